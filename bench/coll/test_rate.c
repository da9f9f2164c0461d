/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Message rate of pairs, as osu_mbw_mr of the OSU micro-benchmarks: each rank
 * of the first half sends windows of messages to its partner in the second
 * half, all pairs at once; the target answers each window. Figures are of all
 * pairs together.
 */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "run.h"
#include "bench/options/parsers.h"
#include "bench/test.h"

/* A setup of one size, on one rank. */
typedef struct stream {
    coll_bed_t *bed;
    unsigned peer;
    bool sends, two_sided;
    size_t bytes;
    uint64_t window;
    drail_key_t *keys; /* of each rank's buffer */
} stream_t;

static bool two_sided(const options_t *opts)
{
    return opts->nops && opts->ops[0] == OP_SEND;
}

static void describe(const coll_plan_t *plan, coll_cell_t *cell)
{
    cell->messages = plan->shape.nranks / 2 * plan->opts->batch;
    cell->received = cell->messages * cell->bytes;
    cell->bus = 0;
}

static int release(coll_run_t *run, unsigned setup, bool failed)
{
    stream_t *s = run->calls[setup];
    (void)failed;
    free(s->keys);
    free(s);
    return 0;
}

static int prepare(coll_run_t *run, coll_cell_t *cell)
{
    unsigned half = run->ranks / 2;
    drail_key_t key;
    stream_t *s = run->calls[cell->setup] = calloc(1, sizeof *s);
    if (!s)
        return DRAIL_ENOMEM;
    *s = (stream_t){.bed = coll_bed_of(run, cell->setup),
                    .sends = run->rank < half,
                    .peer = (run->rank + half) % run->ranks,
                    .two_sided = two_sided(run->opts),
                    .bytes = cell->bytes,
                    .window = run->opts->batch,
                    .keys = calloc(run->ranks, sizeof *s->keys)};
    if (!s->keys)
        return DRAIL_ENOMEM;
    cell->algorithm = run->plan->setups[cell->setup].algorithm;
    drail_mem_key(s->bed->recv_mem, &key);
    return drail_job_allgather(run->job, &key, sizeof key, s->keys, -1);
}

static int put_all(const stream_t *s)
{
    drail_t *rail = s->bed->rail;
    const drail_xfer_t xfer = {.local = s->bed->send,
                               .local_mem = s->bed->send_mem,
                               .remote = &s->keys[s->peer],
                               .remote_offset = COLL_GUARD,
                               .bytes = s->bytes};
    int rc = 0;
    for (uint64_t i = 0; !rc && i < s->window; i++)
        rc = drail_put(rail, s->peer, &xfer, 0, 0, NULL);
    if (!rc)
        rc = drail_fence(rail, s->peer);
    return rc ? rc : drail_notify(rail, s->peer, 0, 0);
}

static int send_all(const stream_t *s)
{
    int rc = 0;
    for (uint64_t i = 0; !rc && i < s->window; i++)
        rc = drail_send(s->bed->rail, s->peer, s->bed->send, s->bytes, NULL);
    return rc;
}

static int receive_all(const stream_t *s)
{
    int rc = 0;
    size_t received = s->bytes;
    for (uint64_t i = 0; !rc && received == s->bytes && i < s->window; i++)
        rc = drail_recv(s->bed->rail, s->peer, s->bed->recv, s->bytes,
                        &received, -1);
    return rc || received == s->bytes ? rc : DRAIL_ETRUNC;
}

static int perform(coll_run_t *run, unsigned setup)
{
    const stream_t *s = run->calls[setup];
    drail_t *rail = s->bed->rail;
    int rc;
    if (s->sends) {
        rc = s->two_sided ? send_all(s) : put_all(s);
        return rc ? rc : drail_notify_wait(rail, s->peer, NULL, -1);
    }
    rc = s->two_sided ? receive_all(s)
                      : drail_notify_wait(rail, s->peer, NULL, -1);
    return rc ? rc : drail_notify(rail, s->peer, 0, 0);
}

static const coll_work_t streams = {.describe = describe,
                                    .prepare = prepare,
                                    .perform = perform,
                                    .release = release};

static int refuse(const bench_test_t *test, const options_t *opts,
                  const char *option, const char *value, const char *allowed)
{
    if (!opts->follows)
        option_wrong(&test->table, option, value, allowed);
    return 2;
}

static int run(const bench_test_t *test, const options_t *opts)
{
    coll_plan_t plan = {0};
    char ranks[24];
    snprintf(ranks, sizeof ranks, "%llu", (unsigned long long)opts->ranks);
    if (opts->validate)
        return refuse(test, opts, "--validate", test->name,
                      "tests of collectives");
    if (opts->ranks % 2)
        return refuse(test, opts, "--ranks", ranks, "an even number");
    coll_plan_shape(&plan, opts);
    return coll_test(test, opts, &plan, &streams);
}

static void defaults(options_t *opts)
{
    options_one_engine(opts);
    opts->batch = 64;
    opts->nalgorithms = 1;
    snprintf(opts->algorithms[0], sizeof opts->algorithms[0], "direct");
}

static int parse_op(const option_row_t *row, const char *text, void *field,
                    char *allowed, size_t size)
{
    const option_row_t *of_pair = &pair_options[PAIR_OP];
    options_t *opts = field;
    int rc = of_pair->parse(of_pair, text, opts->ops, allowed, size);
    (void)row;
    snprintf(allowed, size, "put or send");
    return rc || opts->nops != 1 || opts->ops[0] == OP_GET ? -1 : 0;
}

static const option_row_t rows[] = {
    {"--op", "O", "what is sent: put (RDMA writes) or send (default put)",
     .parse = parse_op},
    {"--window", "N", "messages that are answered together (default 64)",
     .parse = option_parse_count, .field = offsetof(options_t, batch), .min = 1,
     .max = 1 << 20},
};

const bench_test_t test_rate = {
    .table = {.command = "railbench rate",
              .summary = "Message rate of pairs of ranks that send at once.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_SHAPE |
                        OPTIONS_TEAM | OPTIONS_STATS | OPTIONS_HOLLOW,
              .rows = rows,
              .nrows = sizeof rows / sizeof *rows},
    .name = "rate",
    .alias = "mbw_mr",
    .sizes = "1:4K",
    .defaults = defaults,
    .run = run,
    .collective = DCOLL_ALLGATHER,
};
