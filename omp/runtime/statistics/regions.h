/* SPDX-License-Identifier: BSD-3-Clause */
/* What each parallel region has cost, and each variable (RAILOMP_STATS). */
#ifndef OMP_RUNTIME_REGIONS_H
#define OMP_RUNTIME_REGIONS_H

/* A region of several threads begins and ends in this rank. They do nothing
 * without RAILOMP_STATS. */
void regions_begin(void);
void regions_end(void (*function)(void *));
/* All ranks, at the program's end: rank 0 prints the tables. */
void regions_print(void);

#endif
