/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the intervals between barriers, by which libddsm remembers which
 * pages a rank uses (ddsm_interval_names): by the region's function and the
 * barrier's place in the program; more exactly, by the number of the barrier in
 * its region, too, and the regions before: few of them, or many. A solver for
 * example has the same loop for each plane or each level of a grid.
 */
#ifndef OMP_RUNTIME_INTERVAL_H
#define OMP_RUNTIME_INTERVAL_H

/* One thread of a rank calls these at a time. A region begins, and its first
 * interval. */
void interval_begin_region(void (*function)(void *));
/* The interval after a barrier; @site: in the program, NULL: at the end of the
 * region. */
void interval_begin(const void *site);

#endif
