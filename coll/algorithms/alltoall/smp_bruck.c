/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-to-all by Bruck's algorithm for k ports between nodes (Qian and
 * Afsahi 2008, section 5.1.3, see bruck.c), in ⌈log_{k+1} nodes⌉ steps, for
 * short blocks. r is the smallest radix up to k + 1 that needs no more steps:
 * it sends the fewest messages. Slot j of node p has the part for node p + j.
 * In the step of weight w, slots whose digit is d go to node p + dw; then slot
 * j has the part of node p - j % (wr). A slot records where its part is. Phases
 * as in smp_direct.c.
 *
 * NODE: the node's own parts; then all received messages; then messages of
 * several parts to send. Each has a place of its own.
 */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/smp/masters.h"
#include "coll/build/smp/parts.h"
#include "coll/build/exchange/tree.h"

struct bruck {
    struct node node;
    unsigned nodes, radix;
    size_t *slot;   /* by node: offset in NODE of its part */
    size_t packing; /* offset of the next message to send */
};

struct hop {
    struct parts_message message;
    unsigned weight, digit;
};

static struct hop first_hop(void)
{
    return (struct hop){.message = {.distance = 1}, .weight = 1, .digit = 1};
}

static bool is_hop(const struct bruck *b, const struct hop *h)
{
    return h->weight < b->nodes;
}

static void next_hop(const struct bruck *b, struct hop *h)
{
    h->message.number++;
    h->digit++;
    if (h->digit == b->radix || h->digit * h->weight >= b->nodes) {
        h->weight *= b->radix;
        h->digit = 1;
        h->message.step++;
    }
    h->message.distance = h->digit * h->weight;
    h->message.port = h->digit - 1;
}

/* The first slot from @p slot on that the hop takes; the number of nodes: none.
 */
static unsigned taken(const struct bruck *b, const struct hop *h, unsigned slot)
{
    while (slot < b->nodes && slot / h->weight % b->radix != h->digit)
        slot++;
    return slot;
}

/* The bytes of a slot's part when node @p index sends it. */
static size_t part_bytes(const struct bruck *b, const struct hop *h,
                         unsigned index, unsigned slot)
{
    const unsigned from = flat_before(b->nodes, index, slot % h->weight);
    return parts_bytes(&b->node, from, flat_after(b->nodes, from, slot));
}

static size_t message_bytes(const struct bruck *b, const struct hop *h,
                            unsigned index)
{
    size_t bytes = 0;
    for (unsigned j = taken(b, h, 0); j < b->nodes; j = taken(b, h, j + 1))
        bytes += part_bytes(b, h, index, j);
    return bytes;
}

/* The offset in NODE of the message received with a hop. */
static size_t landing(const struct bruck *b, unsigned index,
                      const struct hop *hop)
{
    size_t place = parts_place_on(&b->node, index, b->nodes);
    for (struct hop h = first_hop(); h.message.number < hop->message.number;
         next_hop(b, &h))
        place += message_bytes(
            b, &h, flat_before(b->nodes, index, h.message.distance));
    return place;
}

/* Packs the parts of a hop one after the other. Returns their offset. */
static size_t pack(struct bruck *b, const struct hop *h)
{
    const unsigned first = taken(b, h, 0);
    const size_t place = b->packing;
    if (taken(b, h, first + 1) == b->nodes)
        return b->slot[first];
    for (unsigned j = first; j < b->nodes; j = taken(b, h, j + 1)) {
        const size_t bytes = part_bytes(b, h, b->node.index, j);
        if (parts_mine(&b->node, &h->message))
            flat_copy(b->node.s, dcoll_at(DCOLL_NODE, b->slot[j]),
                      dcoll_at(DCOLL_NODE, b->packing), bytes);
        b->packing += bytes;
    }
    return place;
}

static void send(struct bruck *b, const struct hop *h)
{
    const struct node *n = &b->node;
    const size_t from = pack(b, h);
    if (parts_mine(n, &h->message))
        parts_send(n, &h->message, from,
                   landing(b, masters_after(n, h->message.distance), h),
                   message_bytes(b, h, n->index));
}

/* Parts without higher digits are for my node. */
static void receive(struct bruck *b, const struct hop *h)
{
    const struct node *n = &b->node;
    const unsigned sender = masters_before(n, h->message.distance);
    size_t place = landing(b, n->index, h);
    parts_receive(n, &h->message);
    for (unsigned j = taken(b, h, 0); j < b->nodes; j = taken(b, h, j + 1)) {
        b->slot[j] = place;
        place += part_bytes(b, h, sender, j);
        if (j < h->weight * b->radix)
            parts_scatter(n, masters_before(n, j), b->slot[j]);
    }
}

/* Sends my own messages first, so that no rank waits for me. */
static void receive_step(struct bruck *b, struct hop begin, bool mine)
{
    for (struct hop h = begin;
         is_hop(b, &h) && h.message.step == begin.message.step; next_hop(b, &h))
        if (parts_mine(&b->node, &h.message) == mine)
            receive(b, &h);
}

static void exchange(struct bruck *b)
{
    struct hop h = first_hop();
    do {
        const struct hop begin = h;
        for (; is_hop(b, &h) && h.message.step == begin.message.step;
             next_hop(b, &h))
            send(b, &h);
        if (begin.message.step == 0)
            parts_keep(&b->node);
        receive_step(b, begin, true);
        receive_step(b, begin, false);
    } while (is_hop(b, &h));
}

/* Returns the end of the last one. */
static struct hop grant_all(const struct bruck *b)
{
    struct hop h = first_hop();
    for (; is_hop(b, &h); next_hop(b, &h))
        parts_grant(&b->node, &h.message);
    return h;
}

static void prepare(struct bruck *b)
{
    struct node *n = &b->node;
    n->s->phase = 1;
    node_enter(n);
    const struct hop end = grant_all(b);
    b->packing = landing(b, n->index, &end);
    for (unsigned j = 0; j < b->nodes; j++)
        b->slot[j] = parts_place(n, j);
    n->s->flags = parts_flags(n, end.message.number);
    parts_gather(n);
}

static unsigned radix_for(unsigned nodes, unsigned ports)
{
    struct tree tree = {.n = nodes, .k = ports};
    const unsigned steps = tree_levels(&tree);
    for (tree.k = 1; tree_levels(&tree) > steps;)
        tree.k++;
    return tree.k + 1;
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct bruck b = {.node = node_make(shape, args, rank, s),
                      .nodes = shape->nnodes,
                      .radix = radix_for(shape->nnodes, shape->ports)};
    b.slot = calloc(b.nodes, sizeof *b.slot);
    if (!b.slot) {
        s->error = DRAIL_ENOMEM;
        return;
    }
    prepare(&b);
    exchange(&b);
    s->node_bytes = b.packing;
    flat_complete(s);
    node_leave(&b.node);
    free(b.slot);
}

const dcoll_algorithm_t alltoall_smp_bruck = {
    .name = "smp-bruck",
    .collective = DCOLL_ALLTOALL,
    .summary =
        "k-port Bruck between nodes (Qian and Afsahi 2008, 5.1.3 and 5.2.2)",
    .memory = "NODE: at most L(N + 2N*k/(k+1)*ceil(log_{k+1} nodes)) blocks, "
              "L ranks of the node, if all nodes have as many",
    .generate = generate,
};
