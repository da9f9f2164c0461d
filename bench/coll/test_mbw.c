/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Aggregate bandwidth of an adapter over the number of connections in use, as
 * figure 1 of Qian et al. 2008. Ranks of the same place on their nodes are a
 * group, in which each rank brings its block to all others; several groups do
 * so at once. `direct` writes to all ranks at once, one connection for each;
 * `ring` passes blocks on to the next rank over one connection.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"
#include "bench/test.h"

/* A setup of one size, on one rank. */
typedef struct exchange {
    coll_bed_t *bed;
    unsigned nodes, mine; /**< in the group; 0 nodes: not in one */
    size_t bytes;
    bool ring;
    drail_key_t *keys; /**< of each rank's buffer */
    drail_req_t *puts; /**< to each node */
    unsigned *members; /**< rank of each node */
} exchange_t;

/* --groups, but no more groups than each node has ranks. */
static unsigned groups(const coll_plan_t *plan)
{
    const dcoll_shape_t *shape = &plan->shape;
    unsigned wanted = (unsigned)plan->opts->groups, least = shape->nranks;
    for (unsigned n = 0; n < shape->nnodes; n++) {
        unsigned ranks = shape->node_begin[n + 1] - shape->node_begin[n];
        least = ranks < least ? ranks : least;
    }
    return wanted && wanted < least ? wanted : least;
}

/* Blocks that an adapter receives: each group's rank on its node gets the
 * blocks of all other nodes. */
static void describe(const coll_plan_t *plan, coll_cell_t *cell)
{
    cell->received =
        (uint64_t)groups(plan) * (plan->shape.nnodes - 1) * cell->bytes;
}

static void find_group(exchange_t *x, const coll_plan_t *plan, unsigned rank)
{
    const unsigned *begin = plan->shape.node_begin;
    unsigned place = rank;
    for (unsigned n = 0; n < plan->shape.nnodes; n++)
        if (rank >= begin[n] && rank < begin[n + 1]) {
            x->mine = n;
            place = rank - begin[n];
        }
    x->nodes = place < groups(plan) ? plan->shape.nnodes : 0;
    for (unsigned n = 0; n < x->nodes; n++)
        x->members[n] = begin[n] + place;
}

static int release(coll_run_t *run, unsigned setup, bool failed)
{
    exchange_t *x = run->calls[setup];
    (void)failed;
    free(x->keys);
    free(x->puts);
    free(x->members);
    free(x);
    return 0;
}

static int prepare(coll_run_t *run, coll_cell_t *cell)
{
    const coll_plan_t *plan = run->plan;
    unsigned nodes = plan->shape.nnodes;
    drail_key_t key;
    exchange_t *x = run->calls[cell->setup] = calloc(1, sizeof *x);
    if (!x)
        return DRAIL_ENOMEM;
    x->bed = coll_bed_of(run, cell->setup);
    x->bytes = cell->bytes;
    x->ring = !strcmp(coll_setup_algorithm(&plan->setups[cell->setup]), "ring");
    x->keys = calloc(run->ranks, sizeof *x->keys);
    x->puts = calloc(nodes, sizeof *x->puts);
    x->members = calloc(nodes, sizeof *x->members);
    if (!x->keys || !x->puts || !x->members)
        return DRAIL_ENOMEM;
    find_group(x, plan, run->rank);
    cell->algorithm = plan->setups[cell->setup].algorithm;
    drail_mem_key(x->bed->recv_mem, &key);
    return drail_job_allgather(run->job, &key, sizeof key, x->keys, -1);
}

/* Puts the block of one node's rank to the rank of another node, from the
 * buffer that holds it. */
static int put(exchange_t *x, unsigned block, unsigned node)
{
    coll_bed_t *bed = x->bed;
    bool own = block == x->mine;
    size_t offset = (size_t)x->members[block] * x->bytes;
    drail_xfer_t xfer = {.local = own ? bed->send : bed->recv + offset,
                         .local_mem = own ? bed->send_mem : bed->recv_mem,
                         .remote = &x->keys[x->members[node]],
                         .remote_offset = COLL_GUARD + offset,
                         .bytes = x->bytes};
    return drail_put(bed->rail, x->members[node], &xfer, DRAIL_NOTIFY, block,
                     &x->puts[node]);
}

static int finish(exchange_t *x, unsigned to, unsigned from)
{
    int rc = drail_notify_wait(x->bed->rail, x->members[from], NULL, -1);
    return rc ? rc : drail_wait(x->bed->rail, &x->puts[to], -1);
}

static int direct(exchange_t *x)
{
    int rc = 0;
    for (unsigned i = 1; !rc && i < x->nodes; i++)
        rc = put(x, x->mine, (x->mine + i) % x->nodes);
    for (unsigned i = 1; !rc && i < x->nodes; i++)
        rc = finish(x, (x->mine + i) % x->nodes,
                    (x->mine + x->nodes - i) % x->nodes);
    return rc;
}

static int ring(exchange_t *x)
{
    unsigned next = (x->mine + 1) % x->nodes;
    unsigned last = (x->mine + x->nodes - 1) % x->nodes;
    int rc = 0;
    for (unsigned i = 0; !rc && i + 1 < x->nodes; i++) {
        rc = put(x, (x->mine + x->nodes - i) % x->nodes, next);
        if (!rc)
            rc = finish(x, next, last);
    }
    return rc;
}

static int perform(coll_run_t *run, unsigned setup)
{
    exchange_t *x = run->calls[setup];
    if (x->nodes < 2)
        return 0;
    return x->ring ? ring(x) : direct(x);
}

static const coll_work_t exchanges = {.describe = describe,
                                      .prepare = prepare,
                                      .perform = perform,
                                      .release = release,
                                      .notifies = true};

static int refuse(const bench_test_t *test, const char *option,
                  const char *value, const char *allowed)
{
    option_wrong(&test->table, option, value, allowed);
    return 2;
}

static int refuse_ppn(const bench_test_t *test, const options_t *opts)
{
    char ppn[24];
    snprintf(ppn, sizeof ppn, "%llu", (unsigned long long)options_ppn(opts));
    return opts->follows
               ? 2
               : refuse(test, "--ppn", ppn, "ranks of at least two nodes");
}

static int run(const bench_test_t *test, const options_t *opts)
{
    coll_plan_t plan = {0};
    for (unsigned i = 0; i < opts->nalgorithms; i++)
        if (strcmp(opts->algorithms[i], "ring") &&
            strcmp(opts->algorithms[i], "direct"))
            return refuse(test, "--algorithm", opts->algorithms[i],
                          "ring, direct");
    if (opts->validate)
        return refuse(test, "--validate", test->name, "tests of collectives");
    coll_plan_shape(&plan, opts);
    if (plan.shape.nnodes < 2)
        return refuse_ppn(test, opts);
    return coll_test(test, opts, &plan, &exchanges);
}

static void defaults(options_t *opts)
{
    opts->nalgorithms = 2;
    strcpy(opts->algorithms[0], "ring");
    strcpy(opts->algorithms[1], "direct");
}

const bench_test_t test_mbw = {
    .table = {.command = "railbench mbw",
              .summary = "Bandwidth of an adapter over several connections: "
                         "groups of ranks that exchange blocks at once.",
              .groups = OPTIONS_RAILS | OPTIONS_REPEATS | OPTIONS_SHAPE |
                        OPTIONS_ALGORITHM | OPTIONS_BLOCKS | OPTIONS_TEAM |
                        OPTIONS_SELECT | OPTIONS_STATS | OPTIONS_HOLLOW},
    .name = "mbw",
    .sizes = "4:64K",
    .defaults = defaults,
    .run = run,
    .collective = DCOLL_ALLGATHER,
};
