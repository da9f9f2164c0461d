/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks have done and what it has cost them (RAILOMP_STATS). */
#ifndef OMP_RUNTIME_STATS_H
#define OMP_RUNTIME_STATS_H

/* All ranks, at the program's end: with RAILOMP_STATS=1, rank 0 prints a line
 * for each rank. */
void stats_print(void);

#endif
