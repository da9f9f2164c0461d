/* SPDX-License-Identifier: BSD-3-Clause */
/* Bandwidth and message rate in the units that people compare. */
#ifndef BENCH_UNITS_H
#define BENCH_UNITS_H

#include "bench/options/options.h"
#include "result.h"

/** "MB/s", as --units has it. */
const char *unit_name(unit_t unit);
/** Gb/s (10^9 bits) of MB/s (10^6 bytes). */
double unit_Gbps(double MBps);
/** What a cell reaches: of its first loop, in all directions; messages for
 *  UNIT_MMSGS are as long as the cell says. */
summary_t unit_figure(unit_t unit, const result_t *result, const figures_t *f);

#endif
