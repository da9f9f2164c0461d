/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the time of a batch goes: figs. 11 and 12 of Cai et al. 2009. */
#include "bench/test.h"

const bench_test_t test_breakdown = {
    .table = {.command = "railbench breakdown",
              .summary = "Time in posting RDMA writes and in waiting for "
                         "events, per batch; messages of any length are "
                         "striped.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_PAIR |
                        OPTIONS_STATS,
              .rows = &pair_options[PAIR_BATCH],
              .nrows = 1},
    .name = "breakdown",
    .sizes = "512,4K",
    .run = pair_run,
    .loops = {&loop_bw},
    .nloops = 1,
    .breakdown = true,
};
