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

static int prepare(coll_run_t *run, coll_cell_t *cell)
{
    coll_bed_t *bed = coll_bed_of(run, cell->setup);
    const coll_setup_t *setup = &run->plan->setups[cell->setup];
    block_call_t *c = calloc(1, sizeof *c);
    run->calls[cell->setup] = c;
    if (!c)
        return DRAIL_ENOMEM;
    c->call = coll_bed_call(bed, run->plan, setup, cell->bytes);
    if (setup->call == CALL_BLOCKING)
        return 0; /* cell->algorithm is that of the table */
    int rc = dcoll_init(bed->team, &c->call, &c->request);
    if (!rc && run->rank == 0)
        cell->algorithm = dcoll_request_algorithm(c->request);
    return rc;
}

/* --overlap is not for blocking ones. */
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
                                 .validate = coll_validate,
                                 .release = release,
                                 .predict = predict};
