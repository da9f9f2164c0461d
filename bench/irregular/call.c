/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that are measured. */
#include <stdlib.h>

#include "irregular.h"

static void describe(const coll_plan_t *plan, coll_cell_t *cell)
{
    const counts_t *counts = &plan->patterns[plan->setups[cell->setup].pattern];
    uint64_t element = plan->opts->alltoallv.element;
    cell->elements = cell->bytes;
    cell->bytes *= element;
    counts_sums_t sums = counts_sum(counts, cell->elements);
    cell->received = sums.moved * element / counts->ranks;
    cell->total = sums.total * element;
    cell->longest = sums.longest * element;
    cell->most = sums.most * element;
}

/* ----------------------------------------------------------- one setup --- */

static void fill_calls(irregular_call_t *c, const coll_run_t *run,
                       const coll_cell_t *cell)
{
    const coll_setup_t *setup = &run->plan->setups[cell->setup];
    const struct alltoallv_options *o = &run->opts->alltoallv;
    const coll_bed_t *bed = &run->bed[setup->zero_copy];
    bool bounded = o->bounded || o->persistent;
    /* 0 would be no bound */
    size_t pair = bounded ? cell->longest / o->element + 1 : 0;
    size_t most = bounded ? cell->most / o->element + 1 : 0;
    const char *algorithm = coll_setup_algorithm(setup);
    c->labelled_call = (dcoll_alltoallv_t){.send = bed->send,
                                           .send_counts = c->send_counts,
                                           .recv = bed->recv,
                                           .recv_counts = c->recv_counts,
                                           .element = o->element,
                                           .max_pair = pair,
                                           .max_rank = most,
                                           .algorithm = algorithm};
    c->elements_call = (dcoll_elements_t){.send = bed->send,
                                          .count = c->sent,
                                          .recv = bed->recv,
                                          .room = c->received,
                                          .received = &c->came,
                                          .element = o->element,
                                          .destination = IRREGULAR_DESTINATION,
                                          .max_pair = pair,
                                          .max_rank = most,
                                          .algorithm = algorithm};
}

/* Lists the ranks that get elements, or send some. Returns how many. */
static unsigned list(dcoll_block_t *blocks, const size_t *counts,
                     unsigned ranks, size_t element)
{
    size_t begin = 0;
    unsigned n = 0;
    for (unsigned r = 0; r < ranks; begin += counts[r++] * element)
        if (counts[r])
            blocks[n++] = (dcoll_block_t){r, begin, counts[r] * element};
    return n;
}

static void fill_neighbors(irregular_call_t *c, const coll_run_t *run)
{
    const size_t element = run->opts->alltoallv.element;
    const unsigned ranks = run->ranks;
    const dcoll_alltoallv_t *all = &c->labelled_call;
    dcoll_block_t *from = c->blocks + ranks;
    c->neighbors_call = (dcoll_neighbor_alltoallv_t){
        .send = all->send,
        .ndestinations = list(c->blocks, c->send_counts, ranks, element),
        .destinations = c->blocks,
        .recv = all->recv,
        .nsources = list(from, c->recv_counts, ranks, element),
        .sources = from,
        .algorithm = all->algorithm};
}

static void count(irregular_call_t *c, unsigned me, unsigned ranks)
{
    for (unsigned i = 0; i < ranks; i++) {
        c->send_counts[i] = counts_of(c->counts, c->m, me, i);
        c->recv_counts[i] = counts_of(c->counts, c->m, i, me);
        c->sent += c->send_counts[i];
        c->received += c->recv_counts[i];
    }
}

static int init(irregular_call_t *c, dcoll_team_t *team)
{
    switch (c->interface) {
    case INTERFACE_ELEMENTS:
        return dcoll_elements_init(team, &c->elements_call, NULL, &c->request);
    case INTERFACE_NEIGHBORS:
        return dcoll_neighbor_alltoallv_init(team, &c->neighbors_call,
                                             &c->request);
    default:
        return dcoll_alltoallv_init(team, &c->labelled_call, &c->request);
    }
}

static int prepare(coll_run_t *run, coll_cell_t *cell)
{
    const coll_setup_t *setup = &run->plan->setups[cell->setup];
    dcoll_team_t *team = coll_bed_of(run, cell->setup)->team;
    irregular_call_t *c = calloc(1, sizeof *c);
    run->calls[cell->setup] = c;
    if (!c)
        return DRAIL_ENOMEM;
    c->counts = &run->plan->patterns[setup->pattern];
    c->m = cell->elements;
    c->interface = setup->interface;
    c->blocks = calloc(2 * (size_t)run->ranks, sizeof *c->blocks);
    c->send_counts = calloc(run->ranks, sizeof *c->send_counts);
    c->recv_counts = calloc(run->ranks, sizeof *c->recv_counts);
    if (!c->blocks || !c->send_counts || !c->recv_counts)
        return DRAIL_ENOMEM;
    count(c, run->rank, run->ranks);
    fill_calls(c, run, cell);
    fill_neighbors(c, run);
    return run->opts->alltoallv.persistent ? init(c, team) : 0;
}

static int release(coll_run_t *run, unsigned setup, bool failed)
{
    irregular_call_t *c = run->calls[setup];
    int rc = failed ? 0 : dcoll_free(c->request);
    free(c->blocks);
    free(c->send_counts);
    free(c->recv_counts);
    free(c);
    return rc;
}

/* ------------------------------------------------------------- calling --- */

/* Setups share the buffers. */
static int arrange(coll_run_t *run, unsigned setup)
{
    const irregular_call_t *c = run->calls[setup];
    if (c->interface == INTERFACE_ELEMENTS)
        irregular_stamp(run, c, coll_bed_of(run, setup)->send);
    return 0;
}

static int run_blocking(const irregular_call_t *c, dcoll_team_t *team)
{
    switch (c->interface) {
    case INTERFACE_ELEMENTS:
        return dcoll_alltoall_elements(team, &c->elements_call);
    case INTERFACE_NEIGHBORS:
        return dcoll_neighbor_alltoallv(team, &c->neighbors_call);
    default:
        return dcoll_alltoallv(team, &c->labelled_call);
    }
}

static int perform(coll_run_t *run, unsigned setup)
{
    irregular_call_t *c = run->calls[setup];
    dcoll_team_t *team = coll_bed_of(run, setup)->team;
    if (!c->request)
        return run_blocking(c, team);
    int rc = dcoll_start(c->request);
    return rc ? rc : dcoll_wait(c->request, -1);
}

/* The non-blocking call, if there is no request. */
static int begin(coll_run_t *run, unsigned setup, dcoll_request_t **request)
{
    irregular_call_t *c = run->calls[setup];
    dcoll_team_t *team = coll_bed_of(run, setup)->team;
    *request = c->request;
    if (c->request)
        return dcoll_start(c->request);
    switch (c->interface) {
    case INTERFACE_ELEMENTS:
        return dcoll_elements_begin(team, &c->elements_call, request);
    case INTERFACE_NEIGHBORS:
        return dcoll_neighbor_alltoallv_begin(team, &c->neighbors_call,
                                              request);
    default:
        return dcoll_alltoallv_begin(team, &c->labelled_call, request);
    }
}

const coll_work_t irregular_work = {.describe = describe,
                                    .prepare = prepare,
                                    .arrange = arrange,
                                    .perform = perform,
                                    .begin = begin,
                                    .validate = irregular_validate,
                                    .release = release,
                                    .predict = irregular_predict,
                                    .timed = true};
