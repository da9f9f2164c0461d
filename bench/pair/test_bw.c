/* SPDX-License-Identifier: BSD-3-Clause */
/* Uni- and bi-directional bandwidth of batches (batch.c). */
#include "bench/test.h"

const bench_test_t test_bw = {
    .table = {.command = "railbench bw",
              .summary = "Uni-directional bandwidth of batches of RDMA writes "
                         "(--op: reads, sends).",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_PAIR |
                        OPTIONS_STATS,
              .rows = &pair_options[PAIR_OP],
              .nrows = 5},
    .name = "bw",
    .sizes = "0:2M",
    .run = pair_run,
    .loops = {&loop_bw},
    .nloops = 1,
    .bound = BOUND_BANDWIDTH,
};

const bench_test_t test_bibw = {
    .table = {.command = "railbench bibw",
              .summary = "Bi-directional bandwidth: both ranks send batches "
                         "of RDMA writes (--op: reads) at the same time.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_PAIR |
                        OPTIONS_STATS,
              .rows = &pair_options[PAIR_OP],
              .nrows = 5},
    .name = "bibw",
    .sizes = "0:2M",
    .run = pair_run,
    .loops = {&loop_bibw},
    .nloops = 1,
    .bound = BOUND_BANDWIDTH,
};
