/* SPDX-License-Identifier: BSD-3-Clause */
/* The findings of `railbench prove` about schedules. */
#ifndef BENCH_PROVE_H
#define BENCH_PROVE_H

#include <stdio.h>

#include "coll/dcoll.h"
#include "bench/report/machine.h"
#include "bench/options/options.h"

/** One algorithm with blocks of one size. */
typedef struct verify_row {
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    size_t bytes;            /**< of a block; irregular: from each rank to each
                                  other, as traffic says */
    dcoll_traffic_t traffic; /**< irregular */
    uint64_t *counts;        /**< irregular: that are played; owned */
    const char *refusal;     /**< it can't serve the shape, NULL: it can */
    bool failed;             /**< the verifier found something: */
    char why[512];
    unsigned operations;  /**< of all ranks */
    unsigned puts;        /**< of the rank with most */
    unsigned steps;       /**< communication steps */
    unsigned least_steps; /**< of any schedule (bounds.h) */
    double least_blocks;  /**< the same for blocks; NAN: not known */
    size_t temp_bytes;    /**< of the rank with most, for one start */
    size_t node_bytes;    /**< of the node with most, for one start */
    double startups;      /**< ts on the critical path */
    double blocks;        /**< bytes on the critical path over those of a
                               block, ts = 0 */
    double combined;      /**< the same of what is combined there */
} verify_row_t;

typedef struct verify_result {
    const options_t *opts;
    dcoll_shape_t shape;
    machine_t machine;
    uint64_t seed; /**< of the draws */
    verify_row_t *rows;
    unsigned nrows;
} verify_result_t;

/** Writes the whole verify_result_t. These are output_writer_t: 0, or -1 with
 *  errno if there is no memory for a schedule. */
int verify_report(FILE *file, format_t format, const void *result);
/** Writes every operation of every rank of all rows: as CSV, one line each. */
int verify_schedules(FILE *file, format_t format, const void *result);
/** Writes the schedule of the first row as GOAL. */
int verify_goal(FILE *file, format_t format, const void *result);

#endif
