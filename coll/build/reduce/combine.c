/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/reduce/combine.h"

/* Several operands are combined in pieces that stay in a core's cache; the
 * pieces are larger if there would be too many operations. */
#define CHUNK       (16u << 10)
#define CHUNKS_MOST 64u

static size_t element_of(const dcoll_args_t *args)
{
    return args->element ? args->element : 1;
}

static size_t divided(size_t bytes, size_t unit)
{
    return bytes / unit + (bytes % unit != 0);
}

struct slices slices_of(const dcoll_args_t *args, unsigned count)
{
    const size_t element = element_of(args);
    const size_t lines = element * divided(DCOLL_CACHE_LINE, element);
    const bool aligned = (element & (element - 1)) == 0;
    const bool few = divided(args->bytes, lines) < count;
    return (struct slices){args->bytes, few && !aligned ? element : lines,
                           count};
}

struct slices slices_of_blocks(const dcoll_args_t *args, unsigned count)
{
    return (struct slices){count * args->bytes, args->bytes ? args->bytes : 1,
                           count};
}

size_t slices_units(const struct slices *s)
{
    return divided(s->bytes, s->unit);
}

size_t slices_at(const struct slices *s, size_t unit)
{
    return unit < slices_units(s) ? unit * s->unit : s->bytes;
}

size_t slices_begin(const struct slices *s, unsigned slice)
{
    return slices_at(s, slices_units(s) * slice / s->count);
}

size_t slices_most(const struct slices *s)
{
    return combine_stride(divided(slices_units(s), s->count) * s->unit);
}

size_t combine_stride(size_t bytes)
{
    return divided(bytes, DCOLL_CACHE_LINE) * DCOLL_CACHE_LINE;
}

dcoll_place_t combine_user(const dcoll_args_t *args)
{
    return dcoll_at(args->in_place ? DCOLL_RECV : DCOLL_SEND, 0);
}

static bool same(dcoll_place_t a, dcoll_place_t b)
{
    return a.space == b.space && a.offset == b.offset;
}

static dcoll_place_t operand(const struct operands *o, unsigned i)
{
    return i == o->own ? o->mine : combine_at(o->row, i * o->stride);
}

static void combine_part(dcoll_schedule_t *s, const struct operands *o,
                         dcoll_place_t dst, size_t at, size_t bytes)
{
    dcoll_place_t before = operand(o, 0);
    for (unsigned i = 1; i < o->count; i++) {
        const dcoll_place_t to = i < o->own ? o->spare : dst;
        const dcoll_place_t with = operand(o, i);
        dcoll_add_combine(s, combine_at(before, at), combine_at(with, at),
                          combine_at(to, at), bytes);
        before = to;
    }
}

/* Two operands are read only once: no pieces. */
static size_t most_at_a_time(const dcoll_args_t *args, unsigned count,
                             size_t bytes)
{
    const size_t element = element_of(args);
    const size_t least = divided(bytes, CHUNKS_MOST);
    const size_t chunk = least > CHUNK ? least : CHUNK;
    return count <= 2 ? SIZE_MAX : divided(chunk, element) * element;
}

void combine_in_order(dcoll_schedule_t *s, const dcoll_args_t *args,
                      const struct operands *o, dcoll_place_t dst, size_t bytes)
{
    const size_t most = most_at_a_time(args, o->count, bytes);
    if (o->count == 1 && !same(o->mine, dst))
        dcoll_add_copy(s, o->mine, dst, bytes);
    for (size_t at = 0; o->count > 1 && at < bytes;) {
        const size_t left = bytes - at, part = most < left ? most : left;
        combine_part(s, o, dst, at, part);
        at += part;
    }
}

/* If the result may overlap my operand, that moves to its place in the row. */
void combine_own_block(dcoll_schedule_t *s, const dcoll_args_t *args,
                       unsigned count, unsigned rank, dcoll_place_t row)
{
    const size_t begin = dcoll_block_begin(args, rank);
    const size_t bytes = dcoll_block_bytes(args, rank);
    const size_t stride = combine_stride(bytes);
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    const dcoll_place_t place = combine_at(row, rank * stride);
    struct operands all = {.count = count,
                           .own = rank,
                           .row = row,
                           .stride = stride,
                           .mine = dcoll_at(DCOLL_SEND, begin),
                           .spare = place};
    if (begin && begin < bytes) {
        dcoll_add_copy(s, all.mine, place, bytes);
        all.mine = place;
        all.spare = recv;
    }
    combine_in_order(s, args, &all, recv, bytes);
}
