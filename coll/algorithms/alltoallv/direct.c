/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct irregular all-to-all, not from the papers: everything is written once,
 * from where it is to where it belongs. The receivers have told where that is;
 * the order is that of A1.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/direct.h"
#include "coll/build/flat.h"

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    (void)shape;
    if (!args->traffic)
        return "it is for calls with counts";
    if (!args->traffic->labelled)
        return "elements without counts have no place";
    return args->traffic->max_rank ? NULL : "it needs bounds of the counts";
}

static void put(const struct direct *x, unsigned target, unsigned port)
{
    const dcoll_traffic_t *t = x->args->traffic;
    dcoll_add_put(x->s, target, port, dcoll_at(DCOLL_SEND, 0),
                  dcoll_at(DCOLL_RECV, 0), t->max_pair * t->element);
    dcoll_add_sized(x->s);
}

static void keep_own(const struct direct *x)
{
    dcoll_add_pick(x->s, x->rank, dcoll_at(DCOLL_SEND, 0), 0);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct direct x = {
        .shape = shape,
        .args = args,
        .rank = rank,
        .s = s,
        .grant = GRANT_READY,
        .put = put,
        .meanwhile = keep_own,
    };
    s->phase = 1;
    direct_open(&x);
    direct_exchange(&x);
    dcoll_add_complete(s);
}

const dcoll_algorithm_t alltoallv_direct = {
    .name = "direct",
    .collective = DCOLL_ALLTOALLV,
    .summary = "each part to its final place",
    .memory = "none",
    .placed = true,
    .refuses = refuses,
    .generate = generate,
};
