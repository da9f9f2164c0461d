/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multi-connection gather-based all-gather (Qian et al. 2008, section 5.2).
 * A group has the ranks of equal local number. For each node one group gathers:
 * the node's number modulo the ranks of a node; so a group has several masters
 * if there are more nodes than groups. Phases: 1. all-gather in the shared
 * memory of each node; 2. each rank puts its node's blocks to its group's
 * masters; 3. these broadcast all blocks in shared memory.
 *
 * Without zero copy, the copies are those of the paper's table 1: each rank
 * copies its node's blocks into its send buffer in TEMP, puts go from TEMP to
 * TEMP, and a master copies all blocks to NODE. Other ranks may still read the
 * blocks of phase 1 there, so these have a place of their own behind the
 * result.
 *
 * Unequal nodes: the rank that serves node i has the local number i modulo the
 * ranks of its own node.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/smp/masters.h"

/* The rank on node `index` that serves node `target`; if both are the same, the
 * master. */
static unsigned server(const struct node *n, unsigned index, unsigned target)
{
    return masters_of(n, index) + target % masters_ranks(n, index, 1);
}

static bool serves(const struct node *n, unsigned target)
{
    return server(n, n->index, target) == n->rank;
}

static bool is_master(const struct node *n)
{
    return serves(n, n->index);
}

/* Does this rank exchange blocks with other nodes? */
static bool serves_any(const struct node *n)
{
    for (unsigned i = 0; i < n->shape->nnodes; i++)
        if (serves(n, i))
            return true;
    return false;
}

static size_t blocks(const struct node *n, unsigned count)
{
    return count * n->args->bytes;
}

/* The place of my node's blocks in phase 1. */
static dcoll_place_t shared(const struct node *n)
{
    return dcoll_at(
        DCOLL_NODE,
        blocks(n, n->args->zero_copy ? n->first : n->shape->nranks));
}

/* The place from which they are put. */
static dcoll_place_t source(const struct node *n)
{
    if (n->args->zero_copy)
        return shared(n);
    return dcoll_at(DCOLL_TEMP, is_master(n) ? blocks(n, n->first) : 0);
}

/* The target of puts: each block in its place. */
static dcoll_space_t landing(const struct node *n)
{
    return n->args->zero_copy ? DCOLL_NODE : DCOLL_TEMP;
}

static void grant_sources(const struct node *n)
{
    for (unsigned d = 1; d < n->shape->nnodes; d++)
        masters_grant(n, server(n, masters_before(n, d), n->index),
                      (d - 1) % n->shape->ports);
}

static void gather_node(const struct node *n)
{
    const dcoll_place_t all = shared(n);
    dcoll_add_copy(
        n->s, node_own(n),
        dcoll_at(all.space, all.offset + blocks(n, n->rank - n->first)),
        n->args->bytes);
    node_signal(n, NODE_POSTED);
    if (!serves_any(n) && !n->args->zero_copy)
        return;
    node_await_all(n, NODE_POSTED, 0);
    if (!n->args->zero_copy)
        dcoll_add_copy(n->s, all, source(n), blocks(n, n->count));
}

static bool post(const struct node *n)
{
    unsigned posted = 0;
    for (unsigned d = 1; d < n->shape->nnodes; d++) {
        const unsigned to = masters_after(n, d);
        if (!serves(n, to))
            continue;
        masters_take(n, server(n, to, to));
        dcoll_add_put(n->s, server(n, to, to), (d - 1) % n->shape->ports,
                      source(n), dcoll_at(landing(n), blocks(n, n->first)),
                      blocks(n, n->count));
        posted++;
    }
    return posted > 0;
}

static void wait_for_all(const struct node *n)
{
    for (unsigned d = 1; d < n->shape->nnodes; d++)
        dcoll_add_wait(n->s, server(n, masters_before(n, d), n->index),
                       DCOLL_DATA, 0);
}

/* Zero copy: copies my node's blocks while those of other nodes are under way.
 */
static void copy_out_early(const struct node *n)
{
    n->s->phase = 3;
    if (n->args->zero_copy)
        node_copy_out_all(n, n->first, n->first + n->count);
}

/* Copies all received blocks to NODE; my own block only if a rank needs it. */
static void to_node(const struct node *n)
{
    const dcoll_place_t temp = {DCOLL_TEMP, 0}, node = {DCOLL_NODE, 0};
    if (n->args->in_place && n->count == 1)
        flat_copy_others(n->s, temp, node, n->shape->nranks, n->rank,
                         n->args->bytes);
    else
        dcoll_add_copy(n->s, temp, node, blocks(n, n->shape->nranks));
}

static void perform(const struct node *n)
{
    n->s->phase = 1;
    gather_node(n);
    n->s->phase = 2;
    const bool posted = post(n);
    copy_out_early(n);
    if (is_master(n)) {
        n->s->phase = 2;
        wait_for_all(n);
        n->s->phase = 3;
        if (!n->args->zero_copy)
            to_node(n);
        node_signal(n, NODE_ARRIVED);
    } else {
        node_await(n, server(n, n->index, n->index), NODE_ARRIVED, 0);
    }
    masters_copy_out(n);
    if (posted)
        dcoll_add_complete(n->s);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct node n = node_make(shape, args, rank, s);
    s->flags = NODE_ARRIVED + 1;
    s->connections = true;
    s->node_bytes = blocks(&n, shape->nranks);
    if (!args->zero_copy) {
        s->node_bytes += blocks(&n, n.count);
        if (is_master(&n))
            s->temp_bytes = blocks(&n, shape->nranks);
        else if (serves_any(&n))
            s->temp_bytes = blocks(&n, n.count);
    }
    s->phase = 1;
    if (shape->nranks == 1) {
        node_keep_own(&n);
        return;
    }
    node_enter(&n);
    if (is_master(&n))
        grant_sources(&n);
    perform(&n);
    node_leave(&n);
}

const dcoll_algorithm_t allgather_mc_gather = {
    .name = "mc-gather",
    .collective = DCOLL_ALLGATHER,
    .summary = "ranks of equal number on the nodes put to the master of one",
    .memory = "NODE: N blocks and the node's; TEMP of masters: N blocks, of "
              "others: the node's; zero copy: NODE: N blocks",
    .generate = generate,
};
