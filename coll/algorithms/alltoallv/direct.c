/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct irregular all-to-all, not from the papers: each element is written
 * once, from the sender's buffer into the receiver's. First all ranks tell each
 * other how many elements they have. A receiver that expects these counts, and
 * has room, tells the senders where to write. The order is that of A1.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/direct.h"
#include "coll/build/flat.h"
#include "coll/build/irregular/offer.h"

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    (void)shape;
    if (!args->traffic)
        return "it is for calls with counts";
    return args->traffic->labelled ? NULL
                                   : "elements without counts have no place";
}

/* The place of the table for, or from, another rank. */
static dcoll_place_t said_to(unsigned rank)
{
    return dcoll_at(DCOLL_TEMP, rank * offer_table(1));
}

static dcoll_place_t heard_from(const struct direct *x, unsigned rank)
{
    return said_to(x->shape->nranks + rank);
}

static void tell(const struct direct *x, unsigned target, unsigned port)
{
    dcoll_add_put(x->s, target, port, said_to(target), heard_from(x, x->rank),
                  offer_table(1));
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

/* Its READY implies that it has read the table of the start before. */
static void tell_counts(struct direct *x)
{
    const unsigned n = x->shape->nranks;
    const dcoll_deal_t heard = {.fan = n, .stride = offer_table(1)};
    x->s->phase = 1;
    x->s->temp_bytes = 2 * n * offer_table(1);
    x->grant = GRANT_IMPLIED;
    x->put = tell;
    dcoll_add_offer(x->s, said_to(0), n * offer_table(1));
    direct_exchange(x);
    dcoll_add_expect(x->s, x->rank, heard_from(x, 0), &heard);
}

static void write_elements(struct direct *x)
{
    x->s->phase = 2;
    x->first_step = direct_steps(x->shape);
    x->grant = GRANT_READY;
    x->put = put;
    x->meanwhile = keep_own;
    direct_open(x);
    direct_exchange(x);
    dcoll_add_complete(x->s);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct direct x = {.shape = shape, .args = args, .rank = rank, .s = s};
    tell_counts(&x);
    write_elements(&x);
}

const dcoll_algorithm_t alltoallv_direct = {
    .name = "direct",
    .collective = DCOLL_ALLTOALLV,
    .summary = "each part to its final place, when all counts are known",
    .memory = "TEMP: N * 64 bytes",
    .placed = true,
    .refuses = refuses,
    .generate = generate,
};
