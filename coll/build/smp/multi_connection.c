/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Multi-connection all-gather by groups (Qian et al. 2008, sections 5.1
 * and 5.3). The ranks of each node form G groups; the first rank of a group is
 * its master. Phases: 1. each master gathers its group's blocks on the node; 2.
 * the masters of a group exchange them between nodes; 3. broadcast in shared
 * memory. With one rank per group there is no phase 1, and the others are
 * phases 1 and 2.
 *
 * Without zero copy, the copies are those of the paper's table 1: all ranks of
 * a group copy to NODE, and its master copies from there into its send buffer
 * in TEMP; puts go from TEMP to TEMP; masters copy received blocks to NODE,
 * from where all ranks copy all blocks. Zero copy: puts go from NODE to NODE.
 *
 * Unequal nodes: on a node of L ranks, local rank l is in group l * G / L.
 */
#include "coll/build/flat.h"
#include "coll/build/smp/masters.h"
#include "coll/build/smp/multi_connection.h"

struct multi {
    struct node node;
    unsigned groups, group;
    bool ring, shared; /* are there groups of several ranks? */
};

/* A group's ranks on a node, and the place of their blocks in the masters'
 * TEMP, which has only the group's blocks, in the order of ranks. */
struct part {
    unsigned first, count;
    size_t temp;
};

static unsigned locals(const dcoll_shape_t *shape, unsigned index)
{
    return shape->node_begin[index + 1] - shape->node_begin[index];
}

unsigned multi_most_groups(const dcoll_shape_t *shape)
{
    unsigned least = shape->nranks;
    for (unsigned i = 0; i < shape->nnodes; i++)
        if (locals(shape, i) < least)
            least = locals(shape, i);
    return least;
}

/* The first local rank of a group on a node of `count` ranks. */
static unsigned group_begin(unsigned groups, unsigned group, unsigned count)
{
    return (group * count + groups - 1) / groups;
}

static struct part part_at(const struct multi *m, unsigned group,
                           unsigned index)
{
    const dcoll_shape_t *shape = m->node.shape;
    struct part part = {0};
    for (unsigned i = 0; i <= index; i++) {
        const unsigned begin = group_begin(m->groups, group, locals(shape, i));
        const unsigned end =
            group_begin(m->groups, group + 1, locals(shape, i));
        part.temp += part.count * m->node.args->bytes;
        part.first = shape->node_begin[i] + begin;
        part.count = end - begin;
    }
    return part;
}

static struct part part_of(const struct multi *m, unsigned index)
{
    return part_at(m, m->group, index);
}

static dcoll_place_t node_place(const struct multi *m, struct part part)
{
    return dcoll_at(DCOLL_NODE, part.first * m->node.args->bytes);
}

static dcoll_place_t place(const struct multi *m, struct part part)
{
    return m->node.args->zero_copy ? node_place(m, part)
                                   : dcoll_at(DCOLL_TEMP, part.temp);
}

static size_t bytes_of(const struct multi *m, struct part part)
{
    return part.count * m->node.args->bytes;
}

static bool is_master(const struct multi *m)
{
    return m->node.rank == part_of(m, m->node.index).first;
}

static void grant_sources(const struct multi *m)
{
    const struct node *n = &m->node;
    const unsigned others = n->shape->nnodes - 1;
    for (unsigned d = 1; d <= others && (d == 1 || !m->ring); d++)
        masters_grant(n, part_of(m, masters_before(n, d)).first,
                      (d - 1) % n->shape->ports);
}

/* Are the blocks of my group on my node in NODE from the beginning, or does no
 * rank need them there? */
static bool is_in_node(const struct multi *m, struct part part)
{
    const dcoll_args_t *args = m->node.args;
    return args->zero_copy || part.count > 1 ||
           (args->in_place && m->node.count == 1);
}

static void gather(const struct multi *m)
{
    const struct node *n = &m->node;
    const struct part part = part_of(m, n->index);
    const bool through_node = n->args->zero_copy || part.count > 1;
    dcoll_add_copy(n->s, node_own(n),
                   through_node ? dcoll_at(DCOLL_NODE, n->rank * n->args->bytes)
                                : place(m, part),
                   n->args->bytes);
    node_signal(n, NODE_POSTED);
    if (!is_master(m))
        return;
    for (unsigned i = 1; i < part.count; i++)
        node_await(n, part.first + i, NODE_POSTED, 0);
    if (!n->args->zero_copy && through_node && n->shape->nnodes > 1)
        dcoll_add_copy(n->s, node_place(m, part), place(m, part),
                       bytes_of(m, part));
}

/* Puts the blocks of my group on node `index` to its master on node `to`. */
static void put_part(const struct multi *m, unsigned to, unsigned port,
                     unsigned index)
{
    const struct part part = part_of(m, index);
    dcoll_add_put(m->node.s, part_of(m, to).first, port, place(m, part),
                  place(m, part), bytes_of(m, part));
}

static void wait_for(const struct multi *m, unsigned index)
{
    dcoll_add_wait(m->node.s, part_of(m, index).first, DCOLL_DATA, 0);
}

static void post_all(const struct multi *m)
{
    const struct node *n = &m->node;
    for (unsigned d = 1; d < n->shape->nnodes; d++) {
        const unsigned to = masters_after(n, d);
        masters_take(n, part_of(m, to).first);
        put_part(m, to, (d - 1) % n->shape->ports, n->index);
    }
}

static void wait_for_all(const struct multi *m)
{
    const struct node *n = &m->node;
    for (unsigned d = 1; d < n->shape->nnodes; d++)
        wait_for(m, masters_before(n, d));
}

/* In each step, puts to the node after mine the blocks received in the step
 * before.
 */
static void pass_around(const struct multi *m)
{
    const struct node *n = &m->node;
    for (unsigned d = 1; d < n->shape->nnodes; d++) {
        n->s->step = (uint16_t)(d - 1);
        if (d == 1)
            masters_take(n, part_of(m, masters_after(n, 1)).first);
        put_part(m, masters_after(n, 1), 0, masters_before(n, d - 1));
        wait_for(m, masters_before(n, 1));
    }
}

/* Zero copy: copies my node's blocks, which are in NODE already, while others
 * are under way. */
static void copy_out_node(const struct node *n)
{
    node_await_all(n, NODE_POSTED, 0);
    node_copy_out_all(n, n->first, n->first + n->count);
}

/* Copies the blocks that my group's masters have sent to NODE. */
static void share(const struct multi *m)
{
    const struct node *n = &m->node;
    for (unsigned i = 0; i < n->shape->nnodes && !n->args->zero_copy; i++) {
        const struct part part = part_of(m, i);
        if (i != n->index || !is_in_node(m, part))
            flat_copy(n->s, place(m, part), node_place(m, part),
                      bytes_of(m, part));
    }
    node_signal(n, NODE_ARRIVED);
}

static void await_masters(const struct multi *m)
{
    for (unsigned g = 0; g < m->groups; g++) {
        const unsigned master = part_at(m, g, m->node.index).first;
        if (master != m->node.rank)
            node_await(&m->node, master, NODE_ARRIVED, 0);
    }
}

static void perform(const struct multi *m)
{
    const struct node *n = &m->node;
    const bool master = is_master(m);
    const uint8_t exchange = m->shared ? 2 : 1, broadcast = exchange + 1;
    n->s->phase = 1;
    gather(m);
    n->s->phase = exchange;
    if (master && !m->ring)
        post_all(m);
    if (n->args->zero_copy) {
        n->s->phase = broadcast;
        copy_out_node(n);
        n->s->phase = exchange;
    }
    if (master && m->ring)
        pass_around(m);
    else if (master)
        wait_for_all(m);
    n->s->phase = broadcast;
    if (master)
        share(m);
    await_masters(m);
    masters_copy_out(n);
    if (master && n->shape->nnodes > 1)
        dcoll_add_complete(n->s);
}

void multi_allgather(unsigned groups, bool ring, const dcoll_shape_t *shape,
                     const dcoll_args_t *args, unsigned rank,
                     dcoll_schedule_t *s)
{
    const unsigned most = multi_most_groups(shape);
    struct multi m = {.node = node_make(shape, args, rank, s),
                      .groups = groups < most ? groups : most,
                      .ring = ring};
    m.group = (rank - m.node.first) * m.groups / m.node.count;
    m.shared = m.groups * shape->nnodes < shape->nranks;
    s->flags = NODE_ARRIVED + 1;
    s->connections = !ring;
    s->node_bytes = shape->nranks * args->bytes;
    if (is_master(&m) && !args->zero_copy) {
        const struct part last = part_of(&m, shape->nnodes - 1);
        s->temp_bytes = last.temp + bytes_of(&m, last);
    }
    if (shape->nranks == 1) {
        node_keep_own(&m.node);
        return;
    }
    node_enter(&m.node);
    if (is_master(&m))
        grant_sources(&m);
    perform(&m);
    node_leave(&m.node);
}
