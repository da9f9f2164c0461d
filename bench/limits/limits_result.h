/* SPDX-License-Identifier: BSD-3-Clause */
/* The measurements of `railbench limits`. */
#ifndef BENCH_LIMITS_RESULT_H
#define BENCH_LIMITS_RESULT_H

#include <stdio.h>

#include "cacheline.h"
#include "copy.h"
#include "cores.h"
#include "bench/report/machine.h"
#include "bench/options/options.h"
#include "topology.h"

/** Copies of one kind, or transfers between one pair of cores. */
typedef struct limits_row {
    transfer_t transfer; /**< 0: a copy */
    int from, to;        /**< transfer: cores */
    copy_kernel_t kernel;
    unsigned threads;
    bool cached; /**< the same buffers every time; else through memory that no
                      cache holds */
    uint64_t bytes;
    double *values; /**< of each repeat: MB/s, or ns one way */
    unsigned count;
} limits_row_t;

typedef struct limits_result {
    const options_t *opts;
    machine_t machine;
    topology_t topology;
    cores_t cores;
    uint64_t memory_bytes; /**< that the uncached copies walk through */
    limits_row_t *rows;
    unsigned nrows;
    bool partial;
} limits_result_t;

/** Median and interval of a row. */
summary_t limits_summary(const limits_result_t *result,
                         const limits_row_t *row);

/** Writes a limits_result_t. Errors of writing stay in the FILE.
 *  @return 0. (limits_report.c) */
int limits_report(FILE *file, format_t format, const void *result);

#endif
