/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/flat.h"
#include "coll/build/exchange/personal.h"

dcoll_place_t personal_source(const dcoll_args_t *args, unsigned target)
{
    return dcoll_at(args->in_place ? DCOLL_RECV : DCOLL_SEND,
                    target * args->bytes);
}

static bool is_zero_copy(const dcoll_args_t *args)
{
    return args->zero_copy && !args->in_place;
}

grant_t personal_grant(const dcoll_args_t *args)
{
    return grant_among_all(args, is_zero_copy(args) ? DCOLL_RECV : DCOLL_TEMP);
}

/* The place in TEMP of the block received from @p source. */
static dcoll_place_t landing(const dcoll_shape_t *shape,
                             const dcoll_args_t *args, unsigned source)
{
    const size_t offset = source * args->bytes;
    return is_zero_copy(args)
               ? dcoll_at(DCOLL_RECV, offset)
               : dcoll_at(DCOLL_TEMP, shape->nranks * args->bytes + offset);
}

void personal_begin(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, dcoll_schedule_t *s)
{
    if (!is_zero_copy(args))
        flat_copy_others(s, personal_source(args, 0), dcoll_at(DCOLL_TEMP, 0),
                         shape->nranks, rank, args->bytes);
    if (!args->in_place)
        dcoll_add_copy(s, personal_source(args, rank),
                       dcoll_at(DCOLL_RECV, rank * args->bytes), args->bytes);
}

void personal_put(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, unsigned target, unsigned port,
                  dcoll_schedule_t *s)
{
    const dcoll_space_t from = is_zero_copy(args) ? DCOLL_SEND : DCOLL_TEMP;
    dcoll_add_put(s, target, port, dcoll_at(from, target * args->bytes),
                  landing(shape, args, rank), args->bytes);
}

void personal_end(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, dcoll_schedule_t *s)
{
    if (is_zero_copy(args))
        return;
    s->temp_bytes = 2 * shape->nranks * args->bytes;
    flat_copy_others(s, landing(shape, args, 0), dcoll_at(DCOLL_RECV, 0),
                     shape->nranks, rank, args->bytes);
}
