/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware all-gather (Qian and Afsahi 2008, section 5.2.2). Phases: 1. gather
 * in the node's shared memory; 2. exchange between masters; 3. broadcast: each
 * rank copies out of shared memory.
 *
 * NODE begins with the blocks of my own node; those of the nodes after it
 * follow, with wrap-around. So the blocks of a step follow those that are
 * there, for nodes of any sizes, and copying out brings them in order: Bruck's
 * shift is not needed. Blocks are copied out while the next transfers are under
 * way.
 */
#include "coll/build/smp/masters.h"
#include "coll/build/pace.h"
#include "coll/build/smp/smp_allgather.h"

struct smp {
    struct node node;
    const struct smp_exchange *exchange;
    unsigned k, nodes, steps;
};

static bool message(const struct smp *m, unsigned step, unsigned port,
                    unsigned *distance, unsigned *count)
{
    return m->exchange->message(m->nodes, m->k, step, port, distance, count);
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
    for (unsigned p = 0; p < m->k; p++)
        if (message(m, step, p, &distance, &count)) {
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
    m->node.s->phase = 3;
    node_keep_own(&m->node);
    node_fetch_others(&m->node, 0, m->node.args->bytes);
}

static void post_step(const struct smp *m, unsigned step)
{
    const struct node *n = &m->node;
    unsigned distance, count;
    n->s->phase = 2;
    n->s->step = (uint16_t)step;
    for (unsigned p = 0; p < m->k; p++) {
        if (!message(m, step, p, &distance, &count))
            continue;
        const unsigned to = masters_before(n, distance);
        pace(n->s, n->args);
        masters_take(n, masters_of(n, to));
        dcoll_add_put(n->s, masters_of(n, to), p, dcoll_at(DCOLL_NODE, 0),
                      dcoll_at(DCOLL_NODE,
                               masters_ranks(n, to, distance) * n->args->bytes),
                      place(m, count));
    }
}

/* Receives the blocks of a step, and signals my node. */
static void receive_step(const struct smp *m, unsigned step)
{
    const struct node *n = &m->node;
    unsigned distance, count;
    n->s->phase = 2;
    n->s->step = (uint16_t)step;
    for (unsigned p = 0; p < m->k; p++)
        if (message(m, step, p, &distance, &count))
            dcoll_add_wait(n->s, masters_of(n, masters_after(n, distance)),
                           DCOLL_DATA, 0);
    if (n->count > 1)
        node_signal(n, NODE_ARRIVED + step);
}

static void grant_all(const struct smp *m)
{
    const struct node *n = &m->node;
    unsigned distance, count;
    for (unsigned step = 0; step < m->steps; step++)
        for (unsigned p = 0; p < m->k; p++)
            if (message(m, step, p, &distance, &count))
                masters_grant(n, masters_of(n, masters_after(n, distance)), p);
}

static void exchange(const struct smp *m)
{
    const bool ahead = m->exchange->independent && !m->node.args->paced;
    unsigned posted = 0;
    if (node_fits_line(m->node.args->bytes) || m->node.count == 1)
        masters_keep_own(&m->node, 0);
    masters_collect(&m->node, 0);
    for (unsigned step = 0; step < m->steps; step++) {
        const unsigned last = ahead ? m->steps - 1 : step;
        while (posted <= last)
            post_step(m, posted++);
        if (step == 0)
            copy_out_node(m);
        else
            copy_out(m, arrival_of(m, step - 1));
        receive_step(m, step);
    }
    copy_out(m, arrival_of(m, m->steps - 1));
    dcoll_add_complete(m->node.s);
}

static void follow(const struct smp *m)
{
    const struct node *n = &m->node;
    copy_out_node(m);
    for (unsigned step = 0; step < m->steps; step++) {
        n->s->step = (uint16_t)step;
        node_await(n, n->first, NODE_ARRIVED + step, 0);
        copy_out(m, arrival_of(m, step));
    }
}

void smp_allgather(const struct smp_exchange *how, const dcoll_shape_t *shape,
                   const dcoll_args_t *args, unsigned rank, dcoll_schedule_t *s)
{
    const struct smp m = {.node = node_make(shape, args, rank, s),
                          .exchange = how,
                          .k = shape->ports,
                          .nodes = shape->nnodes,
                          .steps = how->steps(shape->nnodes, shape->ports)};
    const bool master = rank == m.node.first;
    s->flags = NODE_ARRIVED + m.steps;
    s->node_bytes = shape->nranks * args->bytes;

    s->phase = 1;
    node_enter(&m.node);
    if (master)
        grant_all(&m);
    node_post(&m.node, node_own(&m.node), (rank - m.node.first) * args->bytes,
              args->bytes);
    if (master && m.steps)
        exchange(&m);
    else
        follow(&m);
    node_leave(&m.node);
}
