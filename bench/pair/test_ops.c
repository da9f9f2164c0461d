/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads, two-sided messages and atomics: the figures of bw and lat in one
 * table.
 */
#include <stdio.h>

#include "bench/options/parsers.h"
#include "bench/test.h"

static void use(options_t *opts, op_kind_t op)
{
    opts->ops[0] = op;
    opts->nops = 1;
}

static void get_defaults(options_t *opts)
{
    use(opts, OP_GET);
}

static void send_defaults(options_t *opts)
{
    use(opts, OP_SEND);
}

/* Atomics use one rail with any engine. */
static void atomic_defaults(options_t *opts)
{
    use(opts, OP_FETCH_ADD);
    opts->engines[0] = DRAIL_ENGINE_SINGLE;
    opts->nengines = 1;
    opts->nrails = 1;
}

static int run_atomics(const bench_test_t *test, const options_t *opts)
{
    if (opts->nsizes == 1 && opts->sizes[0] == sizeof(uint64_t) &&
        opts->nengines == 1 && opts->engines[0] == DRAIL_ENGINE_SINGLE &&
        opts->nrails == 1)
        return pair_run(test, opts);
    if (!opts->follows)
        fprintf(stderr,
                "%s: atomics are of 8 bytes, over one rail; allowed: --sizes "
                "8, --engine single, one of --rails\n",
                test->table.command);
    return 2;
}

static const char *const atomic_list[] = {"fetch-add", "cmp-swap", NULL};
static const option_names_t atomics = {atomic_list, OP_FETCH_ADD,
                                       offsetof(options_t, nops), 2};

static const option_row_t atomic_options[] = {
    {"--op", "O,...", "fetch-add, cmp-swap (default fetch-add)",
     .parse = option_parse_names, .field = offsetof(options_t, ops),
     .names = &atomics},
};

const bench_test_t test_get = {
    .table = {.command = "railbench get",
              .summary = "RDMA reads: bandwidth of batches, time of one.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_PAIR |
                        OPTIONS_STATS,
              .rows = &pair_options[PAIR_BATCH],
              .nrows = 4},
    .name = "get",
    .sizes = "0:2M",
    .defaults = get_defaults,
    .run = pair_run,
    .loops = {&loop_bw, &loop_pingpong},
    .nloops = 2,
    .bound = BOUND_BANDWIDTH,
};

const bench_test_t test_send = {
    .table = {.command = "railbench send",
              .summary = "Two-sided messages: bandwidth of batches, ping-pong.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_PAIR |
                        OPTIONS_STATS,
              .rows = &pair_options[PAIR_BATCH],
              .nrows = 4},
    .name = "send",
    .sizes = "0:2M",
    .defaults = send_defaults,
    .run = pair_run,
    .loops = {&loop_bw, &loop_pingpong},
    .nloops = 2,
    .bound = BOUND_BANDWIDTH,
};

const bench_test_t test_atomic = {
    .table = {.command = "railbench atomic",
              .summary = "Remote atomics of 8 bytes, one after the other.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_PAIR |
                        OPTIONS_STATS,
              .rows = atomic_options,
              .nrows = 1},
    .name = "atomic",
    .sizes = "8",
    .defaults = atomic_defaults,
    .run = run_atomics,
    .loops = {&loop_pingpong},
    .nloops = 1,
};
