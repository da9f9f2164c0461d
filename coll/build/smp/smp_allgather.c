/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-gather (Qian and Afsahi 2008, section 5.2.2). Phases: 1. gather
 * in the node's shared memory; 2. exchange between masters; 3. broadcast: each
 * rank copies out of shared memory. In an exchange of `all` ranks, a node has
 * several masters. They share its messages: lane i is port i / masters of
 * master i % masters.
 *
 * NODE begins with the blocks of my own node; those of the nodes after it
 * follow, with wrap-around. So the blocks of a step follow those that are
 * there, for nodes of any sizes, and copying out brings them in order: Bruck's
 * shift is not needed. Blocks are copied out while the next transfers are under
 * way. Short ones are copied out at the end, so that the ranks of a node wait
 * for their master once, not in each step.
 */
#include "coll/build/flat.h"
#include "coll/build/smp/masters.h"
#include "coll/build/pace.h"
#include "coll/build/smp/smp_allgather.h"

#define SHORT_BYTES (32u << 10) /* of all blocks */

struct smp {
    struct node node;
    const struct smp_exchange *exchange;
    unsigned masters, mine; /* of a node; my local number */
    unsigned lanes, nodes, steps;
    bool at_once; /* all blocks are copied out at the end */
};

static bool message(const struct smp *m, unsigned step, unsigned lane,
                    unsigned *distance, unsigned *count)
{
    return m->exchange->message(m->nodes, m->lanes, step, lane, distance,
                                count);
}

static unsigned port_of(const struct smp *m, unsigned lane)
{
    return lane / m->masters;
}

/* The master of a node with which I exchange messages. */
static unsigned like_me(const struct smp *m, unsigned index)
{
    return masters_of(&m->node, index) + m->mine;
}

/* The nodes whose blocks are received in a step: distances `from` … `end` - 1.
 */
struct arrival {
    unsigned from, end;
};

static struct arrival arrival_of(const struct smp *m, unsigned step)
{
    struct arrival a = {0, 0};
    unsigned distance, count;
    for (unsigned lane = 0; lane < m->lanes; lane++)
        if (message(m, step, lane, &distance, &count)) {
            if (!a.end)
                a.from = distance;
            a.end = distance + count;
        }
    return a;
}

/* The offset in NODE of the blocks of the node at a distance after mine. */
static size_t place(const struct smp *m, unsigned distance)
{
    return masters_ranks(&m->node, m->node.index, distance) *
           m->node.args->bytes;
}

static void copy_out(const struct smp *m, struct arrival a)
{
    const size_t bytes = m->node.args->bytes;
    const size_t begin = place(m, a.from), end = place(m, a.end);
    const size_t all = m->node.shape->nranks * bytes;
    /* in RECV, the block after that of the last rank is at 0 */
    const size_t shift = m->node.first * bytes, wrap = all - shift;
    const size_t middle = begin > wrap ? begin : end < wrap ? end : wrap;
    m->node.s->phase = 3;
    dcoll_add_copy(m->node.s, dcoll_at(DCOLL_NODE, begin),
                   dcoll_at(DCOLL_RECV, begin + shift), middle - begin);
    dcoll_add_copy(m->node.s, dcoll_at(DCOLL_NODE, middle),
                   dcoll_at(DCOLL_RECV, middle - wrap), end - middle);
}

/* Copies the blocks of my node, which need not be in NODE. */
static void copy_out_node(const struct smp *m)
{
    const struct node *n = &m->node;
    const size_t bytes = n->args->bytes;
    n->s->phase = 3;
    node_keep_own(n);
    if (m->exchange->all || m->at_once)
        flat_copy_others(n->s, dcoll_at(DCOLL_NODE, 0),
                         dcoll_at(DCOLL_RECV, n->first * bytes), n->count,
                         m->mine, bytes);
    else
        node_fetch_others(n, 0, bytes);
}

/* Copies what was there before a step and not before the last one. */
static void copy_out_before(const struct smp *m, unsigned step)
{
    if (step == 0)
        copy_out_node(m);
    else
        copy_out(m, arrival_of(m, step - 1));
}

/* After the last step. */
static void copy_out_rest(const struct smp *m)
{
    if (!m->at_once) {
        copy_out_before(m, m->steps);
        return;
    }
    copy_out_node(m);
    copy_out(m, (struct arrival){1, m->nodes});
}

static void post_step(const struct smp *m, unsigned step)
{
    const struct node *n = &m->node;
    unsigned distance, count;
    n->s->phase = 2;
    n->s->step = (uint16_t)step;
    for (unsigned lane = m->mine; lane < m->lanes; lane += m->masters) {
        if (!message(m, step, lane, &distance, &count))
            continue;
        const unsigned to = masters_before(n, distance);
        pace(n->s, n->args);
        masters_take(n, like_me(m, to));
        dcoll_add_put(n->s, like_me(m, to), port_of(m, lane),
                      dcoll_at(DCOLL_NODE, 0),
                      dcoll_at(DCOLL_NODE,
                               masters_ranks(n, to, distance) * n->args->bytes),
                      place(m, count));
    }
}

/* Does a master receive anything in a step? Its first lane does first. */
static bool receives(const struct smp *m, unsigned step, unsigned master)
{
    unsigned distance, count;
    return message(m, step, master, &distance, &count);
}

/* Does my node copy blocks out after a step? */
static bool shares(const struct smp *m, unsigned step)
{
    return !m->at_once || step == m->steps - 1;
}

/* Receives the blocks of a step, and signals my node. */
static void receive_step(const struct smp *m, unsigned step)
{
    const struct node *n = &m->node;
    unsigned distance, count;
    n->s->phase = 2;
    n->s->step = (uint16_t)step;
    for (unsigned lane = m->mine; lane < m->lanes; lane += m->masters)
        if (message(m, step, lane, &distance, &count))
            dcoll_add_wait(n->s, like_me(m, masters_after(n, distance)),
                           DCOLL_DATA, 0);
    if (n->count > 1 && receives(m, step, m->mine) && shares(m, step))
        node_signal(n, NODE_ARRIVED + step);
}

/* Waits until my node's other masters have received their blocks. */
static void await_step(const struct smp *m, unsigned step)
{
    const struct node *n = &m->node;
    n->s->step = (uint16_t)step;
    for (unsigned i = 0; i < m->masters; i++)
        if (i != m->mine && receives(m, step, i))
            node_await(n, n->first + i, NODE_ARRIVED + step, 0);
}

static void grant_all(const struct smp *m)
{
    const struct node *n = &m->node;
    unsigned distance, count;
    for (unsigned step = 0; step < m->steps; step++)
        for (unsigned lane = m->mine; lane < m->lanes; lane += m->masters)
            if (message(m, step, lane, &distance, &count))
                masters_grant(n, like_me(m, masters_after(n, distance)),
                              port_of(m, lane));
}

/* My block for the ranks of my node. Several masters send from NODE, so all
 * blocks must be there, not in lines. */
static void post_own(const struct smp *m)
{
    const struct node *n = &m->node;
    const size_t bytes = n->args->bytes;
    if (!m->exchange->all) {
        if (m->mine > 0 || !m->at_once)
            node_post(n, node_own(n), m->mine * bytes, bytes);
        return;
    }
    if (n->count > 1 || m->steps)
        masters_keep_own(n, m->mine * bytes);
    if (n->count > 1)
        node_signal(n, NODE_POSTED);
    node_await_all(n, NODE_POSTED, 0);
}

/* The only master of my node collects its blocks. */
static void collect(const struct smp *m)
{
    const struct node *n = &m->node;
    if (m->exchange->all)
        return;
    if (node_fits_line(n->args->bytes) || n->count == 1 || m->at_once)
        masters_keep_own(n, 0);
    masters_collect(n, 0);
}

static void exchange(const struct smp *m)
{
    const bool ahead = m->exchange->independent && !m->node.args->paced;
    unsigned posted = 0;
    collect(m);
    for (unsigned step = 0; step < m->steps; step++) {
        const unsigned last = ahead ? m->steps - 1 : step;
        while (posted <= last)
            post_step(m, posted++);
        if (!m->at_once)
            copy_out_before(m, step);
        receive_step(m, step);
        await_step(m, step);
    }
    copy_out_rest(m);
    flat_complete(m->node.s);
}

static void follow(const struct smp *m)
{
    for (unsigned step = 0; step < m->steps; step++) {
        if (!m->at_once)
            copy_out_before(m, step);
        if (shares(m, step))
            await_step(m, step);
    }
    copy_out_rest(m);
}

void smp_allgather(const struct smp_exchange *how, const dcoll_shape_t *shape,
                   const dcoll_args_t *args, unsigned rank, dcoll_schedule_t *s)
{
    struct smp m = {.node = node_make(shape, args, rank, s),
                    .exchange = how,
                    .masters = how->all ? dcoll_shape_least(shape) : 1,
                    .nodes = shape->nnodes};
    m.mine = rank - m.node.first;
    m.lanes = m.masters * shape->ports;
    m.steps = how->steps(m.nodes, m.lanes);
    m.at_once =
        m.steps && !how->all && args->bytes <= SHORT_BYTES / shape->nranks;
    const bool master = m.steps && m.mine < m.masters;
    s->flags = NODE_ARRIVED + m.steps;
    s->node_bytes = shape->nranks * args->bytes;

    s->phase = 1;
    node_enter(&m.node);
    if (master)
        grant_all(&m);
    post_own(&m);
    if (master)
        exchange(&m);
    else
        follow(&m);
    node_leave(&m.node);
}
