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

static void count(irregular_call_t *c, unsigned me, unsigned ranks)
{
    for (unsigned i = 0; i < ranks; i++) {
        c->send_counts[i] = counts_of(c->counts, c->m, me, i);
        c->recv_counts[i] = counts_of(c->counts, c->m, i, me);
        c->sent += c->send_counts[i];
        c->received += c->recv_counts[i];
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
    c->unlabelled = setup->unlabelled;
    c->send_counts = calloc(run->ranks, sizeof *c->send_counts);
    c->recv_counts = calloc(run->ranks, sizeof *c->recv_counts);
    if (!c->send_counts || !c->recv_counts)
        return DRAIL_ENOMEM;
    count(c, run->rank, run->ranks);
    fill_calls(c, run, cell);
    if (!run->opts->alltoallv.persistent)
        return 0;
    return c->unlabelled
               ? dcoll_elements_init(team, &c->elements_call, NULL, &c->request)
               : dcoll_alltoallv_init(team, &c->labelled_call, &c->request);
}

static int release(coll_run_t *run, unsigned setup, bool failed)
{
    irregular_call_t *c = run->calls[setup];
    int rc = failed ? 0 : dcoll_free(c->request);
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
    if (c->unlabelled)
        irregular_stamp(run, c, coll_bed_of(run, setup)->send);
    return 0;
}

static int perform(coll_run_t *run, unsigned setup)
{
    irregular_call_t *c = run->calls[setup];
    dcoll_team_t *team = coll_bed_of(run, setup)->team;
    if (!c->request)
        return c->unlabelled ? dcoll_alltoall_elements(team, &c->elements_call)
                             : dcoll_alltoallv(team, &c->labelled_call);
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
    return c->unlabelled
               ? dcoll_elements_begin(team, &c->elements_call, request)
               : dcoll_alltoallv_begin(team, &c->labelled_call, request);
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
