/* SPDX-License-Identifier: BSD-3-Clause */
/* The predicted time of an irregular all-to-all (Liu et al. 2002, eqs. 3 and
 * 4). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "irregular.h"
#include "bench/coll/model.h"

/* An algorithm's cost for a rank by table 3; NaN: the paper does not have
 * it. */
typedef struct burden {
    double startups, traffic;
} burden_t;

static burden_t burden_of(const char *name, double ranks, double most)
{
    double root = ceil(sqrt(ranks));
    if (!strncmp(name, "a1", 2))
        return (burden_t){ranks, most};
    if (!strncmp(name, "a2", 2))
        return (burden_t){2 * ranks, 2 * most};
    if (!strncmp(name, "a3", 2) || !strncmp(name, "mesh", 4))
        return (burden_t){2 * root, 2 * most};
    if (!strncmp(name, "a4", 2)) /* theorem 2 */
        return (burden_t){4 * root + 2, 4 * (root + 1) * root * most / ranks};
    return (burden_t){NAN, NAN};
}

static double either(double given, double measured)
{
    return given < 0 ? measured : given;
}

/* The schedule, with the counts of the pattern. */
static double play(const coll_result_t *r, const coll_cell_t *cell)
{
    const struct alltoallv_options *o = &r->opts->alltoallv;
    const coll_plan_t *plan = r->plan;
    const counts_t *c = &plan->patterns[plan->setups[cell->setup].pattern];
    const dcoll_cost_model_t model = {
        .ts = either(o->ts, r->model.ts),
        .tau = either(o->td, r->model.tau) * o->contention,
        .copy = either(o->tm, r->model.copy),
        .flag = r->model.flag,
    };
    uint64_t *counts = calloc((size_t)c->ranks * c->ranks, sizeof *counts);
    if (!counts)
        return NAN;
    for (unsigned from = 0; from < c->ranks; from++)
        for (unsigned to = 0; to < c->ranks; to++)
            counts[(size_t)from * c->ranks + to] =
                counts_of(c, cell->elements, from, to);
    double us = coll_model_predict(&model, cell->algorithm, &plan->shape,
                                   &cell->args, counts);
    free(counts);
    return us;
}

double irregular_predict(const coll_result_t *r, const coll_cell_t *cell)
{
    const struct alltoallv_options *o = &r->opts->alltoallv;
    if (!cell->algorithm)
        return NAN;
    burden_t b = burden_of(cell->algorithm->name, r->plan->shape.nranks,
                           (double)cell->most);
    if (isnan(b.startups))
        return play(r, cell);
    double ts = b.startups * either(o->ts, r->model.ts);
    double tm = b.traffic * either(o->tm, r->model.copy);
    double tc = b.traffic * either(o->tc, 0); /* RDMA: there is no such copy */
    double td = b.traffic * either(o->td, r->model.tau) * o->contention;
    return strstr(cell->algorithm->name, "-n") ? tm + fmax(ts, fmax(tc, td))
                                               : ts + tc + tm + td;
}
