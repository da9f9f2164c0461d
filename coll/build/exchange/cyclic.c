/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/bruck.h"
#include "coll/build/exchange/cyclic.h"
#include "coll/build/flat.h"
#include "coll/build/pace.h"

unsigned cyclic_parts(const struct cyclic *c, unsigned number, unsigned count,
                      struct cyclic_part parts[2])
{
    const unsigned n = c->slices.count, begin = number % n, end = begin + count;
    const unsigned last = end < n ? end : n;
    const size_t from = slices_begin(&c->slices, begin);
    const size_t bytes = slices_begin(&c->slices, last) - from;
    parts[0] = (struct cyclic_part){from, 0, bytes};
    if (end <= n)
        return 1;
    parts[1] =
        (struct cyclic_part){0, bytes, slices_begin(&c->slices, end - n)};
    return 2;
}

static size_t bytes_of(const struct cyclic *c, unsigned number, unsigned count)
{
    struct cyclic_part parts[2];
    size_t bytes = 0;
    for (unsigned i = cyclic_parts(c, number, count, parts); i-- > 0;)
        bytes += parts[i].bytes;
    return bytes;
}

unsigned cyclic_message(const struct cyclic *c, unsigned number, unsigned count,
                        struct cyclic_part parts[2])
{
    const unsigned n = cyclic_parts(c, number, count, parts);
    if (!c->rotated)
        return n;
    parts[0].bytes = bytes_of(c, number, count);
    return 1;
}

dcoll_place_t cyclic_place(const struct cyclic *c, dcoll_place_t vector,
                           unsigned owner, unsigned number,
                           const struct cyclic_part *part)
{
    const unsigned n = c->slices.count;
    return combine_at(
        vector, c->rotated ? bytes_of(c, owner, (number + n - owner % n) % n) +
                                 part->before
                           : part->begin);
}

unsigned cyclic_rank(const struct cyclic *c, unsigned number)
{
    const unsigned n = c->slices.count;
    return c->apart ? c->first + number % n * c->apart
                    : (number + c->first) % n;
}

/* Numbers at a distance before me, and after me. */
static unsigned before(const struct cyclic *c, unsigned distance)
{
    return flat_before(c->slices.count, c->me, distance);
}

static unsigned after(const struct cyclic *c, unsigned distance)
{
    return flat_after(c->slices.count, c->me, distance);
}

/* Is it an edge of the tree? Then one grant is for both of its messages. */
static bool is_edge(const struct cyclic *c, unsigned from, unsigned to)
{
    return c->tree && to > 0 && tree_up(c->tree, to).parent == from;
}

static void put(const struct cyclic *c, unsigned target, unsigned port,
                unsigned number, unsigned count)
{
    struct cyclic_part parts[2];
    const unsigned n = cyclic_message(c, number, count, parts);
    for (unsigned i = 0; i < n; i++)
        dcoll_add_put(c->s, cyclic_rank(c, target), port,
                      cyclic_place(c, c->vector, c->me, number, &parts[i]),
                      cyclic_place(c, c->there, target, number, &parts[i]),
                      parts[i].bytes);
}

static void wait_for(const struct cyclic *c, unsigned from, unsigned number,
                     unsigned count)
{
    struct cyclic_part parts[2];
    for (unsigned i = cyclic_message(c, number, count, parts); i-- > 0;)
        dcoll_add_wait(c->s, cyclic_rank(c, from), DCOLL_DATA, 0);
}

static void take(const struct cyclic *c, unsigned target)
{
    grant_take(c->s, c->grant, c->args, cyclic_rank(c, target));
}

void cyclic_scatter(const struct cyclic *c)
{
    const unsigned first = c->s->step, levels = tree_levels(c->tree);
    struct tree_edge edge;
    if (c->me > 0) {
        edge = tree_up(c->tree, c->me);
        wait_for(c, edge.parent, c->me, edge.blocks);
    }
    for (unsigned i = tree_slots(c->tree, c->me); i-- > 0;) {
        if (!tree_child(c->tree, c->me, i, &edge))
            continue;
        c->s->step = (uint16_t)(first + levels - 1 - edge.level);
        pace(c->s, c->args);
        take(c, edge.child);
        put(c, edge.child, edge.port, edge.child, edge.blocks);
    }
    c->s->step = (uint16_t)(first + levels);
}

/* A message of the all-gather through a port: the slices at a distance after
 * the receiver that it does not have yet. */
struct message {
    unsigned distance; /* of the sender */
    unsigned first, count;
};

static bool message_of(const struct cyclic *c, struct bruck_step step,
                       unsigned port, unsigned receiver, struct message *m)
{
    const unsigned has = !c->tree        ? 1
                         : receiver == 0 ? c->slices.count
                                         : tree_up(c->tree, receiver).blocks;
    if (port >= c->ports || !bruck_message(step, port, &m->distance, &m->count))
        return false;
    const unsigned end = m->distance + m->count;
    m->first = m->distance > has ? m->distance : has;
    m->count = end > m->first ? end - m->first : 0;
    return true;
}

static void give(const struct cyclic *c, struct bruck_step step)
{
    unsigned d, count;
    for (unsigned p = 0; p < c->ports && bruck_message(step, p, &d, &count);
         p++) {
        const unsigned target = before(c, d);
        struct message m;
        message_of(c, step, p, target, &m);
        if (!m.count)
            continue;
        pace(c->s, c->args);
        if (!is_edge(c, c->me, target))
            take(c, target);
        put(c, target, p, (target + m.first) % c->slices.count, m.count);
    }
}

void cyclic_allgather(const struct cyclic *c)
{
    const unsigned n = c->slices.count;
    struct message m;
    for (unsigned have = 1; have < n; c->s->step++) {
        const struct bruck_step step = bruck_step_from(n, c->ports, have);
        give(c, step);
        for (unsigned p = 0; message_of(c, step, p, c->me, &m); p++)
            if (m.count)
                wait_for(c, after(c, m.distance), after(c, m.first), m.count);
        have = step.end;
    }
}

/* For all ranks that put to me. */
static void change(const struct cyclic *c, grant_change_t *how)
{
    const unsigned n = c->slices.count;
    struct message m;
    if (c->tree && c->me > 0) {
        const struct tree_edge edge = tree_up(c->tree, c->me);
        how(c->s, c->grant, c->args, cyclic_rank(c, edge.parent), edge.port);
    }
    for (unsigned have = 1; have < n;) {
        const struct bruck_step step = bruck_step_from(n, c->ports, have);
        for (unsigned p = 0; message_of(c, step, p, c->me, &m); p++)
            if (m.count && !is_edge(c, after(c, m.distance), c->me))
                how(c->s, c->grant, c->args,
                    cyclic_rank(c, after(c, m.distance)), p);
        have = step.end;
    }
}

void cyclic_open(const struct cyclic *c)
{
    change(c, grant_open);
}

void cyclic_close(const struct cyclic *c)
{
    change(c, grant_close);
}
