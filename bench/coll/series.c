/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "run.h"
#include "series.h"

void coll_item_init(coll_item_t *item, const options_t *opts,
                    dcoll_collective_t collective, struct shape shape,
                    double share)
{
    item->opts = *opts;
    item->opts.ranks = shape.ranks;
    item->opts.ppn = shape.ppn;
    item->opts.time_budget = opts->time_budget * share;
    if (collective == DCOLL_BARRIER) {
        item->opts.nsizes = 1;
        item->opts.sizes[0] = 0;
    }
    item->plan = (coll_plan_t){.collective = collective};
    item->result = NULL;
    coll_plan_shape(&item->plan, &item->opts);
}

int coll_item_run(coll_item_t *item, const bench_test_t *test)
{
    item->result = coll_result_create(test, &item->plan);
    if (item->result)
        return coll_run(item->result);
    fprintf(stderr, "%s: out of memory\n", test->table.command);
    return 1;
}

void coll_item_free(coll_item_t *item)
{
    coll_result_destroy(item->result);
    coll_plan_free(&item->plan);
}

unsigned coll_shapes(const options_t *opts, struct shape shapes[SHAPES_MAX])
{
    for (unsigned i = 0; i < opts->nshapes; i++)
        shapes[i] = opts->shapes[i];
    if (opts->nshapes)
        return opts->nshapes;
    shapes[0] = (struct shape){opts->ranks, opts->ppn};
    return 1;
}

unsigned coll_collectives(const options_t *opts,
                          dcoll_collective_t list[DCOLL_COLLECTIVES])
{
    unsigned count =
        opts->ncollectives ? opts->ncollectives : DCOLL_COLLECTIVES;
    for (unsigned i = 0; i < count; i++)
        list[i] =
            opts->ncollectives ? opts->collectives[i] : (dcoll_collective_t)i;
    return count;
}
