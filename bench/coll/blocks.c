/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with equal blocks: for each setup a persistent request, or the
 * arguments of a blocking call. */
#include <stdlib.h>

#include "model.h"
#include "validate.h"

typedef struct block_call {
    dcoll_call_t call;
    dcoll_request_t *request; /* NULL: it is a blocking one */
} block_call_t;

/* In place, the results of a call are the operands of the next. Operands that
 * grow would overflow and change the time, so steady ones are used. */
static void fill_operands(const coll_run_t *run, const dcoll_call_t *call)
{
    const operation_t operation = operation_named(run->opts);
    void *own = call->send == DCOLL_IN_PLACE ? call->recv : (void *)call->send;
    const size_t bytes = coll_send_blocks(run->plan, run->rank) * call->bytes;
    if (run->opts->in_place)
        operation_fill_steady(&operation, own, bytes);
    else
        operation_fill(&operation, own, bytes, run->rank, run->ranks,
                       run->rank);
}

/* Calls tell what `auto` takes: the team knows more than the plan, and may have
 * to learn it. */
static int find_algorithm(coll_run_t *run, coll_cell_t *cell,
                          dcoll_team_t *team)
{
    const block_call_t *c = run->calls[cell->setup];
    dcoll_times_t times = {0};
    bool learned;
    int rc;
    do {
        learned = times.learning;
        dcoll_times_begin(team);
        rc = dcoll_run(team, &c->call);
        dcoll_times_end(team, &times);
    } while (!rc && (times.learning || learned));
    if (!rc && run->rank == 0)
        cell->algorithm = times.algorithm;
    return rc;
}

static int prepare(coll_run_t *run, coll_cell_t *cell)
{
    coll_bed_t *bed = coll_bed_of(run, cell->setup);
    const coll_setup_t *setup = &run->plan->setups[cell->setup];
    block_call_t *c = calloc(1, sizeof *c);
    run->calls[cell->setup] = c;
    if (!c)
        return DRAIL_ENOMEM;
    c->call = coll_bed_call(bed, run->plan, setup, cell->bytes);
    if (c->call.reduction && !run->opts->no_payload)
        fill_operands(run, &c->call);
    if (setup->call == CALL_BLOCKING)
        return setup->algorithm ? 0 : find_algorithm(run, cell, bed->team);
    int rc = dcoll_init(bed->team, &c->call, &c->request);
    if (!rc && run->rank == 0)
        cell->algorithm = dcoll_request_algorithm(c->request);
    return rc;
}

/* Only for requests: --overlap refuses blocking calls. */
static int begin(coll_run_t *run, unsigned setup, dcoll_request_t **request)
{
    const block_call_t *c = run->calls[setup];
    *request = c->request;
    return dcoll_start(c->request);
}

static int perform(coll_run_t *run, unsigned setup)
{
    const block_call_t *c = run->calls[setup];
    dcoll_request_t *request;
    if (!c->request)
        return dcoll_run(coll_bed_of(run, setup)->team, &c->call);
    int rc = begin(run, setup, &request);
    return rc ? rc : dcoll_wait(request, -1);
}

/* Makes the same call with an operation that does not commute: its result shows
 * the order in which the ranks' elements were combined. */
static int validate_order(coll_run_t *run, const coll_cell_t *cell, bool *valid)
{
    block_call_t *measured = run->calls[cell->setup], c = *measured;
    const operation_t affine = operation_affine(c.call.reduction->element);
    c.call.reduction = &affine.reduction;
    int rc = c.request ? dcoll_init(coll_bed_of(run, cell->setup)->team,
                                    &c.call, &c.request)
                       : 0;
    if (rc)
        return rc;
    run->calls[cell->setup] = &c;
    rc = coll_validate(run, cell, &affine, valid);
    run->calls[cell->setup] = measured;
    if (!rc)
        rc = drail_job_barrier(run->job, -1);
    return rc ? rc : dcoll_free(c.request);
}

static int validate(coll_run_t *run, const coll_cell_t *cell, bool *valid)
{
    bool ordered = true;
    if (!coll_plan_reduction(run->plan))
        return coll_validate(run, cell, NULL, valid);
    const operation_t operation = operation_named(run->opts);
    const dcoll_algorithm_t *named = run->plan->setups[cell->setup].algorithm;
    int rc = coll_validate(run, cell, &operation, valid);
    if (!rc && !(named &&
                 dcoll_needs_commuting(named, &run->plan->shape, &cell->args)))
        rc = validate_order(run, cell, &ordered);
    *valid &= ordered;
    return rc;
}

static int release(coll_run_t *run, unsigned setup, bool failed)
{
    block_call_t *c = run->calls[setup];
    int rc = failed ? 0 : dcoll_free(c->request);
    free(c);
    return rc;
}

static double predict(const coll_result_t *r, const coll_cell_t *cell)
{
    return coll_model_predict(&r->model, cell->algorithm, &r->plan->shape,
                              &cell->args, NULL);
}

const coll_work_t coll_blocks = {.prepare = prepare,
                                 .perform = perform,
                                 .begin = begin,
                                 .validate = validate,
                                 .release = release,
                                 .predict = predict};
