/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-to-all through one node, as the all-gather of Qian and Afsahi
 * 2008, section 5.2.1, for short blocks: 2(nodes - 1) messages instead of
 * nodes(nodes - 1), and a rank sleeps only once, until all its blocks have
 * arrived. Phases: 1. the ranks of a node put the blocks for each other node
 * together in shared memory;
 * 2. masters send them to the master of node 0; 3. it sends each node the parts
 * of all nodes for it, and each rank copies its blocks out.
 *
 * NODE: the node's own parts; then received parts. On node 0 these are the
 * parts of nodes 1, 2, … for the nodes after them; then come the messages to
 * each node, with parts in the order of nodes.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/smp/masters.h"
#include "coll/build/pace.h"
#include "coll/build/smp/parts.h"

struct hub {
    struct node node;
    struct tree tree; /* over the nodes */
};

/* The bytes that a node sends to all others, and receives from all others. */
static size_t bytes_up(const struct node *n, unsigned index)
{
    return parts_place_on(n, index, n->shape->nnodes) -
           parts_bytes(n, index, index);
}

static size_t bytes_down(const struct node *n, unsigned index)
{
    size_t bytes = 0;
    for (unsigned from = 0; from < n->shape->nnodes; from++)
        bytes += from != index ? parts_bytes(n, from, index) : 0;
    return bytes;
}

/* The offset in NODE of node 0 of the parts received from a node; of `nodes`:
 * the end of all of them. */
static size_t landing_up(const struct node *n, unsigned from)
{
    size_t place = parts_place_on(n, 0, n->shape->nnodes);
    for (unsigned index = 1; index < from; index++)
        place += bytes_up(n, index);
    return place;
}

/* The same for the part from one of these nodes to another node. */
static size_t gathered(const struct node *n, unsigned from, unsigned to,
                       size_t landing)
{
    if (from == 0)
        return parts_place_on(n, 0, to);
    const unsigned distance = flat_before(n->shape->nnodes, to, from);
    return landing + parts_place_on(n, from, distance) -
           parts_bytes(n, from, from);
}

static size_t node_bytes(const struct node *n)
{
    const unsigned nodes = n->shape->nnodes;
    if (n->index > 0)
        return parts_place(n, nodes) + bytes_down(n, n->index);
    size_t bytes = landing_up(n, nodes);
    for (unsigned to = 1; to < nodes; to++)
        bytes += bytes_down(n, to);
    return bytes;
}

static void put(const struct hub *h, unsigned to, unsigned port, size_t src,
                size_t dst, size_t bytes)
{
    dcoll_add_put(h->node.s, masters_of(&h->node, to), port,
                  dcoll_at(DCOLL_NODE, src), dcoll_at(DCOLL_NODE, dst), bytes);
}

/* Packs the message to a node, one part after the other. */
static void pack(const struct node *n, unsigned to, size_t place)
{
    size_t landing = landing_up(n, 1);
    for (unsigned from = 0; from < n->shape->nnodes; from++) {
        if (from != to) {
            const size_t bytes = parts_bytes(n, from, to);
            flat_copy(n->s,
                      dcoll_at(DCOLL_NODE, gathered(n, from, to, landing)),
                      dcoll_at(DCOLL_NODE, place), bytes);
            place += bytes;
        }
        landing += from > 0 ? bytes_up(n, from) : 0;
    }
}

/* Node 0 sends to all others. No grants are needed: it has received from all
 * nodes in this start. */
static void scatter(const struct hub *h)
{
    const struct node *n = &h->node;
    const unsigned nodes = n->shape->nnodes;
    size_t place = landing_up(n, nodes);
    struct tree_edge edge;
    n->s->phase = 3;
    for (unsigned i = 0; i < tree_slots(&h->tree, 0); i++) {
        if (!tree_child(&h->tree, 0, i, &edge))
            continue;
        const size_t bytes = bytes_down(n, edge.child);
        n->s->step = (uint16_t)(tree_levels(&h->tree) + edge.level);
        pack(n, edge.child, place);
        pace(n->s, n->args);
        put(h, edge.child, edge.port, place,
            parts_place_on(n, edge.child, nodes), bytes);
        place += bytes;
    }
}

/* Another node sends to node 0, and receives from it. */
static void exchange(const struct hub *h)
{
    const struct node *n = &h->node;
    const struct tree_edge edge = tree_up(&h->tree, n->index);
    n->s->phase = 2;
    n->s->step = (uint16_t)edge.level;
    masters_take(n, masters_of(n, 0));
    put(h, 0, edge.port, parts_place(n, 1), landing_up(n, n->index),
        bytes_up(n, n->index));
    parts_keep(n);
    n->s->phase = 3;
    n->s->step = (uint16_t)(tree_levels(&h->tree) + edge.level);
    dcoll_add_wait(n->s, masters_of(n, 0), DCOLL_DATA, 0);
}

static void lead(const struct hub *h)
{
    const struct node *n = &h->node;
    node_await_all(n, NODE_POSTED, 0);
    if (n->index > 0) {
        exchange(h);
    } else {
        parts_keep(n);
        n->s->phase = 2;
        masters_await_children(n, &h->tree);
        scatter(h);
    }
    if (n->count > 1)
        node_signal(n, NODE_ARRIVED);
}

/* Copies out the blocks of other nodes. */
static void copy_out(const struct node *n)
{
    size_t place = parts_place(n, n->shape->nnodes);
    size_t landing = landing_up(n, 1); /* on node 0 */
    for (unsigned from = 0; from < n->shape->nnodes; from++) {
        if (from == n->index)
            continue;
        parts_scatter(n, from,
                      n->index ? place : gathered(n, from, 0, landing));
        place += parts_bytes(n, from, n->index);
        landing += bytes_up(n, from);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct hub h = {
        .node = node_make(shape, args, rank, s),
        .tree = {.n = shape->nnodes, .k = shape->ports, .star = true}};
    const struct node *n = &h.node;
    s->flags = parts_flags(n, 1);
    s->node_bytes = node_bytes(n);
    s->phase = 1;
    node_enter(n);
    if (rank == n->first)
        masters_grant_children(n, &h.tree);
    parts_post(n);
    if (rank == n->first) {
        lead(&h);
    } else {
        node_await(n, n->first, NODE_ARRIVED, 0);
        parts_keep(n);
    }
    copy_out(n);
    flat_complete(s);
    node_leave(n);
}

const dcoll_algorithm_t alltoall_smp_gather_scatter = {
    .name = "smp-gather-scatter",
    .collective = DCOLL_ALLTOALL,
    .summary = "by way of one node, which gathers and scatters (as Qian and "
               "Afsahi 2008, "
               "5.2.1)",
    .memory = "NODE: L(2N - L) blocks, L ranks of the node; node 0: LN + 2(N - "
              "L)^2, if all nodes have as many",
    .generate = generate,
};
