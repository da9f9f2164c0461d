/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-to-all: one message from each node to each other one, in the
 * manner of seed 000, section 5.2.2, which has it for the all-gather. Phases: 1
 * in the node's shared memory, all ranks put together what is for each node, 2
 * exchange between the nodes, 3 each rank copies its blocks out. The ranks of a
 * node take its messages in turn, by the distance of the other node, as the
 * ports do: not one master sends and receives everything.
 *
 * NODE: what is for the ranks of my own node, of the nodes after it, with
 * wrap-around, then what came from the node before mine, the one before that,
 * and so on; in each of these the blocks of a sender follow each other.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/masters.h"
#include "coll/build/pace.h"
#include "coll/build/personal.h"

static unsigned locals(const struct node *n, unsigned index)
{
    return masters_ranks(n, index, 1);
}

/* The rank of a node that sends to the one at a distance after it, and takes
 * what comes from the one at that distance before it. */
static unsigned agent(const struct node *n, unsigned index, unsigned distance)
{
    return masters_of(n, index) + (distance - 1) % locals(n, index);
}

/* Of the rank that takes it: it has come. */
static unsigned flag_of(const struct node *n, unsigned distance)
{
    return NODE_ARRIVED + (distance - 1) / n->count;
}

static unsigned port_of(const struct node *n, unsigned distance)
{
    return (distance - 1) % n->shape->ports;
}

static unsigned step_of(const struct node *n, unsigned distance)
{
    return (distance - 1) / n->shape->ports;
}

/* Places in NODE: what goes to the node at a distance after mine, … */
static size_t leaving(const struct node *n, unsigned distance)
{
    return n->count * masters_ranks(n, n->index, distance) * n->args->bytes;
}

/* … and on a node, what comes from the one at a distance before it. */
static size_t landing(const struct node *n, unsigned index, unsigned distance)
{
    const unsigned nodes = n->shape->nnodes;
    const unsigned between =
        masters_ranks(n, (index + nodes - distance + 1) % nodes, distance - 1);
    return locals(n, index) * (n->shape->nranks + between) * n->args->bytes;
}

/* My blocks for the others of my node, and for all other nodes. */
static void put_together(const struct node *n)
{
    const size_t bytes = n->args->bytes;
    const unsigned local = n->rank - n->first;
    n->s->phase = 1;
    flat_copy_others(n->s, personal_source(n->args, n->first),
                     dcoll_at(DCOLL_NODE, local * n->count * bytes), n->count,
                     local, bytes);
    for (unsigned d = 1; d < n->shape->nnodes; d++) {
        const unsigned to = masters_after(n, d);
        const size_t part = locals(n, to) * bytes;
        dcoll_add_copy(n->s, personal_source(n->args, masters_of(n, to)),
                       dcoll_at(DCOLL_NODE, leaving(n, d) + local * part),
                       part);
    }
    if (n->count > 1)
        node_signal(n, NODE_POSTED);
    node_await_all(n, NODE_POSTED, 0);
}

/* My block of each rank of a node, whose blocks for mine are at offset. */
static void copy_out(const struct node *n, unsigned from, size_t offset)
{
    const size_t bytes = n->args->bytes;
    const unsigned first = masters_of(n, from), local = n->rank - n->first;
    n->s->phase = 3;
    for (unsigned i = 0; i < locals(n, from); i++) {
        const size_t at = offset + (i * n->count + local) * bytes;
        if (first + i != n->rank)
            flat_copy(n->s, dcoll_at(DCOLL_NODE, at),
                      dcoll_at(DCOLL_RECV, (first + i) * bytes), bytes);
    }
}

static void copy_out_node(const struct node *n)
{
    const size_t own = n->rank * n->args->bytes;
    copy_out(n, n->index, 0);
    if (!n->args->in_place)
        dcoll_add_copy(n->s, personal_source(n->args, n->rank),
                       dcoll_at(DCOLL_RECV, own), n->args->bytes);
}

static void send(const struct node *n, unsigned distance)
{
    const unsigned to = masters_after(n, distance);
    const unsigned target = agent(n, to, distance);
    n->s->phase = 2;
    n->s->step = (uint16_t)step_of(n, distance);
    pace(n->s, n->args);
    masters_take(n, target);
    dcoll_add_put(n->s, target, port_of(n, distance),
                  dcoll_at(DCOLL_NODE, leaving(n, distance)),
                  dcoll_at(DCOLL_NODE, landing(n, to, distance)),
                  n->count * locals(n, to) * n->args->bytes);
}

/* From the node at a distance before mine: by its message, if I am the one who
 * takes it, or when that one says so. */
static void receive(const struct node *n, unsigned distance)
{
    const unsigned from = masters_before(n, distance);
    const unsigned taker = agent(n, n->index, distance);
    n->s->phase = 2;
    n->s->step = (uint16_t)step_of(n, distance);
    if (taker != n->rank)
        node_await(n, taker, flag_of(n, distance), 0);
    else
        dcoll_add_wait(n->s, agent(n, from, distance), DCOLL_DATA, 0);
    if (taker == n->rank && n->count > 1)
        node_signal(n, flag_of(n, distance));
    copy_out(n, from, landing(n, n->index, distance));
}

/* The messages that I send and take; what is of my node while they are under
 * way. */
static void exchange(const struct node *n)
{
    const unsigned first = n->rank - n->first + 1;
    unsigned sent = first, received = first;
    for (; sent < n->shape->nnodes; sent += n->count) {
        for (; n->args->paced && step_of(n, received) < step_of(n, sent);
             received += n->count)
            receive(n, received);
        send(n, sent);
    }
    copy_out_node(n);
    for (; received < n->shape->nnodes; received += n->count)
        receive(n, received);
}

static void follow(const struct node *n)
{
    for (unsigned d = 1; d < n->shape->nnodes; d++)
        if (agent(n, n->index, d) != n->rank)
            receive(n, d);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    s->flags = flag_of(&n, shape->nnodes - 1 + n.count);
    s->node_bytes = n.count * (2 * shape->nranks - n.count) * args->bytes;
    s->phase = 1;
    masters_enter(&n);
    for (unsigned d = rank - n.first + 1; d < shape->nnodes; d += n.count)
        masters_grant(&n, agent(&n, masters_before(&n, d), d), port_of(&n, d));
    put_together(&n);
    exchange(&n);
    follow(&n);
    flat_complete(s);
    masters_leave(&n);
}

const dcoll_algorithm_t alltoall_smp_direct = {
    .name = "smp-direct",
    .collective = DCOLL_ALLTOALL,
    .summary = "one message between two nodes, the ranks of a node in turn",
    .memory = "NODE: L(2N - L) blocks, L ranks of the node",
    .generate = generate,
};
