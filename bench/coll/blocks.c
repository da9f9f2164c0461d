/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls with equal blocks: a persistent request for each setup. */
#include "model.h"
#include "validate.h"

static int prepare(coll_run_t *run, coll_cell_t *cell)
{
    coll_bed_t *bed = coll_bed_of(run, cell->setup);
    dcoll_call_t call = coll_bed_call(
        bed, run->plan, &run->plan->setups[cell->setup], cell->bytes);
    dcoll_request_t *request = NULL;
    int rc = dcoll_init(bed->team, &call, &request);
    run->calls[cell->setup] = request;
    if (!rc && run->rank == 0)
        cell->algorithm = dcoll_request_algorithm(request);
    return rc;
}

static int perform(coll_run_t *run, unsigned setup)
{
    dcoll_request_t *request = run->calls[setup];
    int rc = dcoll_start(request);
    return rc ? rc : dcoll_wait(request, -1);
}

static int release(coll_run_t *run, unsigned setup)
{
    return dcoll_free(run->calls[setup]);
}

static double predict(const coll_result_t *r, const coll_cell_t *cell)
{
    return coll_model_predict(&r->model, cell->algorithm, &r->plan->shape,
                              &cell->args, NULL);
}

const coll_work_t coll_blocks = {.prepare = prepare,
                                 .perform = perform,
                                 .validate = coll_validate,
                                 .release = release,
                                 .predict = predict};
