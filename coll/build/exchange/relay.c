/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/pace.h"
#include "coll/build/exchange/relay.h"

static grant_t along_tree(const struct relay *relay, dcoll_space_t target)
{
    (void)relay;
    return grant_along_tree(target);
}

struct relay relay_make(const struct tree *tree, const dcoll_args_t *args,
                        unsigned root, unsigned rank, dcoll_schedule_t *s,
                        struct layout (*layout)(const struct relay *, unsigned))
{
    return (struct relay){
        .tree = *tree,
        .args = args,
        .root = root,
        .rank = (rank + tree->n - root) % tree->n,
        .s = s,
        .layout = layout,
        .grant = along_tree,
    };
}

unsigned relay_absolute(const struct relay *relay, unsigned rank)
{
    return (rank + relay->root) % relay->tree.n;
}

bool relay_is_leaf(const struct relay *relay, unsigned rank)
{
    struct tree_edge edge;
    return !tree_child(&relay->tree, rank, 0, &edge) ||
           tree_slots(&relay->tree, rank) == 0;
}

unsigned relay_blocks(const struct relay *relay, unsigned rank)
{
    return rank == 0 ? relay->tree.n : tree_up(&relay->tree, rank).blocks;
}

size_t relay_bytes(const struct relay *relay, unsigned u, unsigned count)
{
    const unsigned n = relay->tree.n, first = relay_absolute(relay, u);
    const unsigned end = first + count, last = end < n ? end : n;
    const size_t bytes = dcoll_block_begin(relay->args, last) -
                         dcoll_block_begin(relay->args, first);
    return end > n ? bytes + dcoll_block_begin(relay->args, end - n) : bytes;
}

dcoll_place_t relay_place(const struct relay *relay, unsigned owner, unsigned u)
{
    const struct layout layout = relay->layout(relay, owner);
    return dcoll_at(layout.space,
                    layout.absolute ? dcoll_block_begin(
                                          relay->args, relay_absolute(relay, u))
                                    : relay_bytes(relay, owner, u - owner));
}

/* The number of blocks from @p u on, before @p end, that are consecutive at
 * both ranks. */
static unsigned run(const struct relay *relay, const struct tree_edge *edge,
                    unsigned u, unsigned end)
{
    const unsigned to_wrap = relay->tree.n - relay_absolute(relay, u);
    const bool wraps = relay->layout(relay, edge->child).absolute ||
                       relay->layout(relay, edge->parent).absolute;
    return wraps && to_wrap < end - u ? to_wrap : end - u;
}

static void put_range(const struct relay *relay, const struct tree_edge *edge,
                      unsigned from, unsigned to)
{
    const unsigned end = edge->child + edge->blocks;
    for (unsigned u = edge->child, count; u < end; u += count) {
        count = run(relay, edge, u, end);
        dcoll_add_put(relay->s, relay_absolute(relay, to), edge->port,
                      relay_place(relay, from, u), relay_place(relay, to, u),
                      relay_bytes(relay, u, count));
    }
}

static void wait_range(const struct relay *relay, const struct tree_edge *edge,
                       unsigned from)
{
    const unsigned end = edge->child + edge->blocks;
    for (unsigned u = edge->child; u < end; u += run(relay, edge, u, end))
        dcoll_add_wait(relay->s, relay_absolute(relay, from), DCOLL_DATA, 0);
}

static grant_t grant_of(const struct relay *relay, unsigned target)
{
    return relay->grant(relay, relay->layout(relay, target).space);
}

static void take(const struct relay *relay, unsigned target)
{
    grant_take(relay->s, grant_of(relay, target), relay->args,
               relay_absolute(relay, target));
}

static void step_up(const struct relay *relay, const struct tree_edge *edge)
{
    relay->s->step = (uint16_t)(relay->first_step + edge->level);
}

static void step_down(const struct relay *relay, const struct tree_edge *edge)
{
    relay->s->step = (uint16_t)(relay->first_step + tree_levels(&relay->tree) -
                                1 - edge->level);
}

static void change_children(const struct relay *relay, grant_change_t *change)
{
    struct tree_edge edge;
    const unsigned slots = tree_slots(&relay->tree, relay->rank);
    for (unsigned i = 0; i < slots; i++)
        if (tree_child(&relay->tree, relay->rank, i, &edge))
            change(relay->s, grant_of(relay, relay->rank), relay->args,
                   relay_absolute(relay, edge.child), edge.port);
}

static void change_parent(const struct relay *relay, grant_change_t *change)
{
    if (relay->rank == 0)
        return;
    const struct tree_edge edge = tree_up(&relay->tree, relay->rank);
    change(relay->s, grant_of(relay, relay->rank), relay->args,
           relay_absolute(relay, edge.parent), edge.port);
}

void relay_open_children(const struct relay *relay)
{
    change_children(relay, grant_open);
}

void relay_close_children(const struct relay *relay)
{
    change_children(relay, grant_close);
}

void relay_open_parent(const struct relay *relay)
{
    change_parent(relay, grant_open);
}

void relay_close_parent(const struct relay *relay)
{
    change_parent(relay, grant_close);
}

void relay_gather(const struct relay *relay)
{
    struct tree_edge edge;
    const unsigned slots = tree_slots(&relay->tree, relay->rank);
    for (unsigned i = 0; i < slots; i++)
        if (tree_child(&relay->tree, relay->rank, i, &edge)) {
            step_up(relay, &edge);
            wait_range(relay, &edge, edge.child);
        }
    if (relay->rank == 0)
        return;
    edge = tree_up(&relay->tree, relay->rank);
    step_up(relay, &edge);
    take(relay, edge.parent);
    put_range(relay, &edge, edge.child, edge.parent);
}

void relay_scatter(const struct relay *relay)
{
    struct tree_edge edge;
    if (relay->rank > 0) {
        edge = tree_up(&relay->tree, relay->rank);
        step_down(relay, &edge);
        wait_range(relay, &edge, edge.parent);
    }
    for (unsigned i = tree_slots(&relay->tree, relay->rank); i-- > 0;)
        if (tree_child(&relay->tree, relay->rank, i, &edge)) {
            step_down(relay, &edge);
            pace(relay->s, relay->args);
            take(relay, edge.child);
            put_range(relay, &edge, edge.parent, edge.child);
        }
}

void relay_bcast(const struct relay *relay, size_t bytes)
{
    struct tree_edge edge;
    if (relay->rank > 0) {
        edge = tree_up(&relay->tree, relay->rank);
        step_down(relay, &edge);
        dcoll_add_wait(relay->s, relay_absolute(relay, edge.parent), DCOLL_DATA,
                       0);
    }
    for (unsigned i = tree_slots(&relay->tree, relay->rank); i-- > 0;)
        if (tree_child(&relay->tree, relay->rank, i, &edge)) {
            step_down(relay, &edge);
            pace(relay->s, relay->args);
            take(relay, edge.child);
            dcoll_add_put(
                relay->s, relay_absolute(relay, edge.child), edge.port,
                dcoll_at(relay->layout(relay, relay->rank).space, 0),
                dcoll_at(relay->layout(relay, edge.child).space, 0), bytes);
        }
}
