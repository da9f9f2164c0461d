/* SPDX-License-Identifier: BSD-3-Clause */
#include "flat.h"

static bool goes_on(dcoll_place_t last, size_t bytes, dcoll_place_t next)
{
    return last.space == next.space && last.offset + bytes == next.offset;
}

unsigned flat_power(unsigned base, unsigned exponent)
{
    unsigned result = 1;
    while (exponent--)
        result *= base;
    return result;
}

unsigned flat_steps(unsigned n, unsigned k)
{
    unsigned steps = 0;
    for (size_t reach = 1; reach < n; reach *= k + 1)
        steps++;
    return steps;
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

/* Copies @all bytes except those from @begin to @end - 1. */
static void copy_except(dcoll_schedule_t *s, dcoll_place_t src,
                        dcoll_place_t dst, size_t all, size_t begin, size_t end)
{
    dcoll_add_copy(s, src, dst, begin);
    dcoll_add_copy(s, dcoll_at(src.space, src.offset + end),
                   dcoll_at(dst.space, dst.offset + end), all - end);
}

void flat_copy_others(dcoll_schedule_t *s, dcoll_place_t src, dcoll_place_t dst,
                      unsigned n, unsigned own, size_t bytes)
{
    copy_except(s, src, dst, n * bytes, own * bytes, (own + 1) * bytes);
}

void flat_copy_other_blocks(dcoll_schedule_t *s, dcoll_place_t src,
                            dcoll_place_t dst, const dcoll_args_t *args,
                            unsigned n, unsigned own)
{
    copy_except(s, src, dst, dcoll_block_begin(args, n),
                dcoll_block_begin(args, own), dcoll_block_begin(args, own + 1));
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
    return dcoll_at(board_space(args), dcoll_block_begin(args, rank));
}

dcoll_place_t board_source(const dcoll_args_t *args, unsigned rank)
{
    return args->in_place ? dcoll_at(DCOLL_RECV, dcoll_block_begin(args, rank))
                          : dcoll_at(DCOLL_SEND, 0);
}

void board_begin(const dcoll_shape_t *shape, const dcoll_args_t *args,
                 unsigned rank, dcoll_schedule_t *s)
{
    const bool needed = !args->zero_copy && shape->nranks > 1;
    if (!args->in_place || needed)
        dcoll_add_copy(s, board_source(args, rank), board_at(args, rank),
                       dcoll_block_bytes(args, rank));
}

void board_end(const dcoll_shape_t *shape, const dcoll_args_t *args,
               unsigned rank, dcoll_schedule_t *s)
{
    const dcoll_place_t board = board_at(args, 0), recv = {DCOLL_RECV, 0};
    if (args->zero_copy)
        return;
    s->temp_bytes = dcoll_block_begin(args, shape->nranks);
    if (args->in_place)
        flat_copy_other_blocks(s, board, recv, args, shape->nranks, rank);
    else
        dcoll_add_copy(s, board, recv, s->temp_bytes);
}
