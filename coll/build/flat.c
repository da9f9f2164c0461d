/* SPDX-License-Identifier: BSD-3-Clause */
/* What the flat algorithms have in common. */
#include "flat.h"

static bool goes_on(dcoll_place_t last, size_t bytes, dcoll_place_t next)
{
    return last.space == next.space && last.offset + bytes == next.offset;
}

void flat_copy(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
               size_t bytes)
{
    dcoll_op_t *last = s->nops ? &s->ops[s->nops - 1] : NULL;
    if (last && last->kind == DCOLL_COPY && last->phase == s->phase &&
        last->step == s->step && goes_on(last->src, last->bytes, src) &&
        goes_on(last->dst, last->bytes, dst))
        last->bytes += bytes;
    else
        dcoll_add_copy(s, src, dst, bytes);
}

void flat_complete(dcoll_schedule_t *s)
{
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_PUT) {
            dcoll_add_complete(s);
            return;
        }
}

dcoll_space_t board_space(const dcoll_args_t *args)
{
    return args->zero_copy ? DCOLL_RECV : DCOLL_TEMP;
}

dcoll_place_t board_at(const dcoll_args_t *args, unsigned rank)
{
    return dcoll_at(board_space(args), rank * args->bytes);
}

dcoll_place_t board_source(const dcoll_args_t *args, unsigned rank)
{
    return args->in_place ? dcoll_at(DCOLL_RECV, rank * args->bytes)
                          : dcoll_at(DCOLL_SEND, 0);
}

void board_begin(const dcoll_args_t *args, unsigned rank, dcoll_schedule_t *s)
{
    if (!(args->in_place && args->zero_copy))
        dcoll_add_copy(s, board_source(args, rank), board_at(args, rank),
                       args->bytes);
}

void board_end(const dcoll_shape_t *shape, const dcoll_args_t *args,
               dcoll_schedule_t *s)
{
    if (args->zero_copy)
        return;
    s->temp_bytes = shape->nranks * args->bytes;
    dcoll_add_copy(s, board_at(args, 0), dcoll_at(DCOLL_RECV, 0),
                   s->temp_bytes);
}
