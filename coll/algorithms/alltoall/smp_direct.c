/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware direct all-to-all, in the manner of Qian and Afsahi 2008,
 * section 5.2.2, which is for the all-gather: one message from each node to
 * each other node. Phases: 1. the ranks of a node put the blocks for each other
 * node together in shared memory; 2. nodes exchange; 3. each rank copies its
 * blocks out.
 *
 * NODE: the node's own parts; then the received parts of the node before mine,
 * of the one before that, and so on.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/smp/masters.h"
#include "coll/build/smp/parts.h"

static struct parts_message message(const struct node *n, unsigned distance)
{
    return (struct parts_message){.number = distance - 1,
                                  .distance = distance,
                                  .step = (distance - 1) / n->shape->ports,
                                  .port = (distance - 1) % n->shape->ports};
}

/* The offset in NODE of the part received from the node at a distance before.
 */
static size_t landing(const struct node *n, unsigned index, unsigned distance)
{
    size_t place = parts_place_on(n, index, n->shape->nnodes);
    for (unsigned d = 1; d < distance; d++)
        place += parts_bytes(n, flat_before(n->shape->nnodes, index, d), index);
    return place;
}

static void send(const struct node *n, unsigned distance)
{
    const struct parts_message m = message(n, distance);
    const unsigned to = masters_after(n, distance);
    parts_send(n, &m, parts_place(n, distance), landing(n, to, distance),
               parts_bytes(n, n->index, to));
}

static void receive(const struct node *n, unsigned distance)
{
    const struct parts_message m = message(n, distance);
    parts_receive(n, &m);
    parts_scatter(n, masters_before(n, distance),
                  landing(n, n->index, distance));
}

/* Receives those of my messages that belong to steps before that of `distance`.
 */
static void receive_before(const struct node *n, unsigned *received,
                           unsigned distance)
{
    while (message(n, *received).step < message(n, distance).step) {
        receive(n, *received);
        *received += n->count;
    }
}

/* Sends my messages; copies my node's blocks while they are under way. */
static void exchange(const struct node *n)
{
    const unsigned nodes = n->shape->nnodes, first = n->rank - n->first + 1;
    unsigned received = first;
    for (unsigned d = first; d < nodes; d += n->count) {
        if (n->args->paced)
            receive_before(n, &received, d);
        send(n, d);
    }
    parts_keep(n);
    for (; received < nodes; received += n->count)
        receive(n, received);
}

static void follow(const struct node *n)
{
    for (unsigned d = 1; d < n->shape->nnodes; d++) {
        const struct parts_message m = message(n, d);
        if (!parts_mine(n, &m))
            receive(n, d);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    s->flags = parts_flags(&n, shape->nnodes - 1);
    s->node_bytes = landing(&n, n.index, shape->nnodes);
    s->phase = 1;
    node_enter(&n);
    for (unsigned d = 1; d < shape->nnodes; d++) {
        const struct parts_message m = message(&n, d);
        parts_grant(&n, &m);
    }
    parts_gather(&n);
    exchange(&n);
    follow(&n);
    flat_complete(s);
    node_leave(&n);
}

const dcoll_algorithm_t alltoall_smp_direct = {
    .name = "smp-direct",
    .collective = DCOLL_ALLTOALL,
    .summary = "one message from each node to each other one (as Qian and "
               "Afsahi 2008, "
               "5.2.2)",
    .memory = "NODE: L(2N - L) blocks, L ranks of the node",
    .generate = generate,
};
