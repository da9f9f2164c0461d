/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/flat.h"
#include "coll/build/reduce/slice_owners.h"

/* At an owner: the distance between the operands of two ranks. */
static size_t stride_of(const struct owners *o, unsigned owner)
{
    return combine_stride(owners_slice_bytes(o, owner));
}

/* The place at an owner of the operand of that rank. */
static dcoll_place_t row_at(const struct owners *o, unsigned owner,
                            unsigned rank)
{
    return dcoll_at(DCOLL_TEMP, o->temp + rank * stride_of(o, owner));
}

static void put_slice(const struct direct *x, unsigned target, unsigned port)
{
    const struct owners o =
        owners_of(x->shape, x->args, x->rank, x->grant, x->s);
    const dcoll_place_t source =
        x->args->zero_copy ? combine_user(x->args) : o.vector;
    dcoll_add_put(x->s, target, port,
                  combine_at(source, slices_begin(&o.slices, target)),
                  row_at(&o, target, x->rank), owners_slice_bytes(&o, target));
}

struct owners owners_of(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, grant_t grant, dcoll_schedule_t *s)
{
    return (struct owners){
        .exchange = {.shape = shape,
                     .args = args,
                     .rank = rank,
                     .s = s,
                     .grant = grant,
                     .put = put_slice},
        .slices = slices_of(args, shape->nranks),
        .vector = dcoll_at(board_space(args), 0),
        .temp = args->zero_copy ? 0 : combine_stride(args->bytes)};
}

size_t owners_bytes(const struct owners *o)
{
    const struct direct *x = &o->exchange;
    return o->temp + x->shape->nranks * stride_of(o, x->rank);
}

dcoll_place_t owners_slice(const struct owners *o, unsigned rank)
{
    return combine_at(o->vector, slices_begin(&o->slices, rank));
}

size_t owners_slice_bytes(const struct owners *o, unsigned rank)
{
    return slices_begin(&o->slices, rank + 1) - slices_begin(&o->slices, rank);
}

void owners_open(const struct owners *o)
{
    direct_open(&o->exchange);
}

void owners_close(const struct owners *o)
{
    direct_close(&o->exchange);
}

dcoll_place_t owners_mine(const struct owners *o)
{
    return row_at(o, o->exchange.rank, o->exchange.rank);
}

void owners_combine(const struct owners *o, dcoll_place_t result)
{
    const struct direct *x = &o->exchange;
    const size_t begin = slices_begin(&o->slices, x->rank);
    const size_t end = slices_begin(&o->slices, x->rank + 1);
    const dcoll_place_t user = combine_user(x->args);
    if (!x->args->zero_copy) {
        dcoll_add_copy(x->s, user, o->vector, begin);
        dcoll_add_copy(x->s, combine_at(user, end), combine_at(o->vector, end),
                       x->args->bytes - end);
    }
    direct_exchange(x);
    const struct operands all = {.count = x->shape->nranks,
                                 .own = x->rank,
                                 .row = row_at(o, x->rank, 0),
                                 .stride = stride_of(o, x->rank),
                                 .mine = combine_at(user, begin),
                                 .spare = owners_mine(o)};
    combine_in_order(x->s, x->args, &all, result, end - begin);
}
