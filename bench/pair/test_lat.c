/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Latency: RDMA-write latency from the loop of the bandwidth test with short
 * messages (Cai et al. 2009, section 5.2), and a true ping-pong (pingpong.c).
 */
#include "bench/test.h"

const bench_test_t test_lat = {
    .table = {.command = "railbench lat",
              .summary = "RDMA write latency: of batches, and of a ping-pong "
                         "(--op: of reads, sends).",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_PAIR |
                        OPTIONS_STATS,
              .rows = pair_options,
              .nrows = PAIR_OPTION_ROWS},
    .name = "lat",
    .sizes = "0:4K",
    .run = pair_run,
    .loops = {&loop_bw, &loop_pingpong},
    .nloops = 2,
    .bound = BOUND_LATENCY,
};
