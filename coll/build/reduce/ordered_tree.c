/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/reduce/ordered_tree.h"

/* Members begin … end - 1 in `count` parts; `own` is mine. */
struct level {
    unsigned begin, end, count, own, step;
};

#define LEVELS_MAX 32

static unsigned part_begin(const struct level *l, unsigned part)
{
    return l->begin + (unsigned)((size_t)(l->end - l->begin) * part / l->count);
}

static bool has(unsigned begin, unsigned end, unsigned number)
{
    return number >= begin && number < end;
}

static unsigned head_of(const struct ordered_tree *t, unsigned begin,
                        unsigned end)
{
    return has(begin, end, t->root) ? t->root : begin;
}

static unsigned part_head(const struct ordered_tree *t, const struct level *l,
                          unsigned part)
{
    return head_of(t, part_begin(l, part), part_begin(l, part + 1));
}

static struct level level_of(const struct ordered_tree *t, unsigned begin,
                             unsigned end)
{
    const unsigned radix = t->ports + 1, n = end - begin;
    struct level l = {.begin = begin,
                      .end = end,
                      .count = n < radix ? n : radix,
                      .step = flat_steps(n, t->ports) - 1};
    while (!has(part_begin(&l, l.own), part_begin(&l, l.own + 1), t->me))
        l.own++;
    return l;
}

/* Fills the ranges that contain me, from the whole on; returns their number. */
static unsigned levels_of(const struct ordered_tree *t, struct level *levels)
{
    unsigned count = 0, begin = 0, end = t->n;
    while (end - begin > 1) {
        struct level *l = &levels[count++];
        *l = level_of(t, begin, end);
        begin = part_begin(l, l->own);
        end = part_begin(l, l->own + 1);
    }
    return count;
}

static size_t stride(const struct ordered_tree *t)
{
    return combine_stride(t->args->bytes);
}

/* TEMP: for each step a place for each part; my own place holds what I have
 * combined, or is free. */
static dcoll_place_t place(const struct ordered_tree *t, unsigned step,
                           unsigned part)
{
    const size_t index = (size_t)step * (t->ports + 1) + part;
    return dcoll_at(DCOLL_TEMP, t->temp + index * stride(t));
}

size_t ordered_tree_bytes(const struct ordered_tree *t)
{
    return place(t, flat_steps(t->n, t->ports), 0).offset - t->temp;
}

static unsigned rank_of(const struct ordered_tree *t, unsigned number)
{
    if (number == t->root)
        return t->args->root;
    return t->ranks ? t->ranks[number] : number;
}

/* The port through which the head of a part puts to the head of the whole. */
static unsigned port_of(unsigned part, unsigned head, unsigned count)
{
    return (part + count - head) % count - 1;
}

static unsigned head_part(const struct ordered_tree *t, const struct level *l)
{
    unsigned part = 0;
    while (part_head(t, l, part) != head_of(t, l->begin, l->end))
        part++;
    return part;
}

/* As head of the whole: combines the blocks of the other parts with mine. */
static void take(const struct ordered_tree *t, const struct level *l,
                 dcoll_place_t mine, dcoll_place_t dst)
{
    t->s->step = (uint16_t)l->step;
    for (unsigned i = 0; i < l->count; i++)
        if (i != l->own)
            dcoll_add_wait(t->s, rank_of(t, part_head(t, l, i)), DCOLL_DATA, 0);
    const struct operands all = {.count = l->count,
                                 .own = l->own,
                                 .row = place(t, l->step, 0),
                                 .stride = stride(t),
                                 .mine = mine,
                                 .spare = place(t, l->step, l->own)};
    combine_in_order(t->s, t->args, &all, dst, t->args->bytes);
}

/* As head of a part: puts its block to the head of the whole. */
static void give(const struct ordered_tree *t, const struct level *l,
                 dcoll_place_t mine, bool put)
{
    const unsigned head = head_of(t, l->begin, l->end);
    const unsigned target = rank_of(t, head);
    const dcoll_place_t there = place(t, l->step, l->own);
    t->s->step = (uint16_t)l->step;
    if (!put)
        dcoll_add_copy(t->s, mine, there, t->args->bytes);
    grant_take(t->s, GRANT_CREDIT, t->args, target);
    dcoll_add_put(t->s, target, port_of(l->own, head_part(t, l), l->count),
                  put ? mine : there, there, t->args->bytes);
    dcoll_add_complete(t->s);
}

/* As head: grants the next puts of the other parts' heads. */
static void close_level(const struct ordered_tree *t, const struct level *l)
{
    for (unsigned i = 0; i < l->count; i++)
        if (i != l->own)
            grant_close(t->s, GRANT_CREDIT, t->args,
                        rank_of(t, part_head(t, l, i)),
                        port_of(i, l->own, l->count));
}

void ordered_tree_reduce(const struct ordered_tree *t, dcoll_place_t own,
                         bool put)
{
    struct level levels[LEVELS_MAX];
    const unsigned count = levels_of(t, levels);
    unsigned i = count;
    dcoll_place_t mine = own;
    for (; i-- > 0 && head_of(t, levels[i].begin, levels[i].end) == t->me;
         put = true) {
        const struct level *l = &levels[i];
        const dcoll_place_t dst =
            i ? place(t, l->step, l->own) : dcoll_at(DCOLL_RECV, 0);
        take(t, l, mine, dst);
        mine = dst;
    }
    if (i < count)
        give(t, &levels[i], mine, put);
    for (unsigned j = count; j-- > i + 1;)
        close_level(t, &levels[j]);
}
