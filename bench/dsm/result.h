/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurements of shared memory. Rank 0 writes them to memory that it
 * shares with the process that forked it, which reports. */
#ifndef BENCH_DSM_RESULT_H
#define BENCH_DSM_RESULT_H

#include "bench/report/machine.h"
#include "bench/report/notes.h"
#include "bench/stats/stats.h"
#include "bench/test.h"
#include "part.h"

/** A row: a case of a part, a size, a setup. */
typedef struct dsm_cell {
    const dsm_part_t *part;
    unsigned what;  /**< of its cases */
    unsigned setup; /**< of the result's */
    uint64_t bytes; /**< 0: of a part that has none */
    bool wrong;     /**< something was not what had been written */
    unsigned count; /**< repeats */
    double values[DSM_FIGURES][STATS_MAX];
} dsm_cell_t;

/** Rows that are measured in turn. */
typedef struct dsm_group {
    unsigned first, count;
} dsm_group_t;

typedef struct dsm_result {
    const bench_test_t *test;
    const options_t *opts;
    const dsm_setup_t *setups;
    unsigned nsetups;
    void *solutions[DSM_PARTS][DSM_SEEDS]; /**< of programs, owned */
    summary_t alone_us[DSM_PARTS]; /**< ... by one rank; n 0: not measured */
    machine_t machine;
    drail_rail_info_t rails[DRAIL_MAX_RAILS];
    notes_t notes;
    bool partial;
    unsigned ngroups, ncells;
    dsm_group_t groups[DSM_PARTS + SIZES_MAX];
    dsm_cell_t cells[];
} dsm_result_t;

/** Before the ranks are forked. NULL: out of memory.
 *  @param setups must outlive it. */
dsm_result_t *dsm_result_create(const bench_test_t *test, const options_t *opts,
                                const dsm_setup_t *setups, unsigned nsetups);
void dsm_result_destroy(dsm_result_t *result); /**< accepts NULL */

summary_t dsm_result_figure(const dsm_result_t *result, const dsm_cell_t *cell,
                            dsm_figure_t figure);
/** MB/s; NaN where nothing is moved. */
summary_t dsm_result_rate(const dsm_result_t *result, const dsm_cell_t *cell);
/** How much sooner than over the first rail alone; NaN: not known. */
double dsm_result_gain(const dsm_result_t *result, const dsm_cell_t *cell);
/** Programs: part of the time that is faults, in per cent; else NaN. */
double dsm_result_faults(const dsm_result_t *result, const dsm_cell_t *cell);
/** Programs: over a rank alone; else NaN. */
double dsm_result_speedup(const dsm_result_t *result, const dsm_cell_t *cell);
/** The time that a rank alone takes for a program, in microseconds; NaN: not
 *  known. */
double dsm_result_alone(const dsm_result_t *result, const dsm_part_t *part);

/** Name of a figure, a column of the CSV. */
const char *dsm_figure_name(dsm_figure_t figure);

/** Writes a dsm_result_t. Errors of writing stay in the FILE.
 *  @return 0. */
int dsm_report(FILE *file, format_t format, const void *result);

#endif
