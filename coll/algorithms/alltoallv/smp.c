/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware irregular all-to-all, not from the papers: ranks of a node offer
 * their elements in tables, as within one node. All elements for another node
 * go in one bundle into its shared memory, where each rank picks its own. The
 * first ranks of each node (agents) share the bundles: agent i exchanges with
 * agents i of the nodes at distances i + 1, i + 1 + agents, …
 */
#include "dapl_rail/dapl_rail.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/masters.h"
#include "coll/build/irregular/offer.h"
#include "coll/build/irregular/offers.h"

struct smp {
    struct offers offers;
    unsigned agents; /* ranks of a node that send and receive */
    size_t bundle;   /* room of a bundle, the same on all nodes */
};

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned locals(const dcoll_shape_t *shape, unsigned node)
{
    return shape->node_begin[node + 1] - shape->node_begin[node];
}

static void count_locals(const dcoll_shape_t *shape, unsigned *fewest,
                         unsigned *most)
{
    *fewest = *most = locals(shape, 0);
    for (unsigned i = 1; i < shape->nnodes; i++) {
        unsigned n = locals(shape, i);
        *fewest = least(n, *fewest);
        *most = n > *most ? n : *most;
    }
}

/* The longest bundle between two nodes of `most` ranks. */
static double bundle_of(const dcoll_traffic_t *t, unsigned most)
{
    double n = most, pair = n * (double)t->max_pair;
    double rank = (double)t->max_rank;
    double elements = n * (pair < rank ? pair : rank);
    return (double)offer_section(most, most) + elements * (double)t->element;
}

static struct smp make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                       unsigned rank, dcoll_schedule_t *s)
{
    struct smp m = {.offers = offers_make(shape, args, rank, s)};
    unsigned most;
    count_locals(shape, &m.agents, &most);
    m.bundle = offers_room(bundle_of(args->traffic, most));
    if (!m.bundle)
        s->error = DRAIL_ENOMEM;
    /* the other ranks wait for the agents' flags */
    m.agents = least(m.agents, shape->nnodes - 1);
    m.offers.told &= m.agents > 1 || rank != m.offers.node.first;
    s->flags = NODE_ARRIVED + 1;
    s->node_bytes += (shape->nnodes - 1) * m.bundle;
    return m;
}

/* -------------------------------------------------------- between nodes */

/* The number of bundles of an agent to, or from, nodes nearer than that. */
static unsigned bundles(const struct smp *m, unsigned agent, unsigned distance)
{
    return distance > agent + 1 ? (distance - agent - 2) / m->agents + 1 : 0;
}

static void set_step(const struct smp *m, unsigned number)
{
    m->offers.node.s->step = (uint16_t)(number / m->offers.node.shape->ports);
}

/* The offset in NODE of the bundle of the node that distance before. */
static dcoll_place_t place(const struct smp *m, unsigned node,
                           unsigned distance)
{
    size_t tables = locals(m->offers.node.shape, node) * m->offers.room;
    return dcoll_at(DCOLL_NODE, tables + (distance - 1) * m->bundle);
}

static void send(const struct smp *m, unsigned agent, unsigned distance)
{
    const struct node *n = &m->offers.node;
    const dcoll_deal_t tables = offers_tables(&m->offers);
    unsigned number = bundles(m, agent, distance);
    unsigned to = masters_after(n, distance), peer = masters_of(n, to) + agent;
    dcoll_place_t bundle = dcoll_at(DCOLL_TEMP, number * m->bundle);
    set_step(m, number);
    dcoll_add_pack(n->s, peer, dcoll_at(DCOLL_NODE, 0), &tables, bundle,
                   m->bundle);
    dcoll_add_put(n->s, peer, number % n->shape->ports, bundle,
                  place(m, to, distance), m->bundle);
    dcoll_add_sized(n->s);
}

static void receive(const struct smp *m, unsigned agent, unsigned distance)
{
    const struct node *n = &m->offers.node;
    set_step(m, bundles(m, agent, distance));
    dcoll_add_wait(n->s, masters_of(n, masters_before(n, distance)) + agent,
                   DCOLL_DATA, 0);
}

static void exchange(const struct smp *m)
{
    const struct node *n = &m->offers.node;
    unsigned agent = n->rank - n->first, nodes = n->shape->nnodes;
    n->s->phase = 2;
    if (agent >= m->agents)
        return;
    offers_await(&m->offers);
    n->s->temp_bytes = bundles(m, agent, nodes) * m->bundle;
    for (unsigned d = agent + 1; d < nodes; d += m->agents)
        send(m, agent, d);
    for (unsigned d = agent + 1; d < nodes; d += m->agents)
        receive(m, agent, d);
    if (n->count > 1)
        node_signal(n, NODE_ARRIVED);
}

/* ---------------------------------------------------- received bundles */

/* Called after all ranks of the node have offered their elements. */
static void await_agents(const struct smp *m)
{
    const struct node *n = &m->offers.node;
    for (unsigned i = 0; i < m->agents; i++)
        if (n->first + i != n->rank)
            node_await(n, n->first + i, NODE_ARRIVED, 0);
}

static void expect(const struct smp *m)
{
    const struct node *n = &m->offers.node;
    for (unsigned d = 1; d < n->shape->nnodes; d++)
        dcoll_add_expect_bundle(n->s, masters_of(n, masters_before(n, d)),
                                place(m, n->index, d), m->bundle);
    offers_expect(&m->offers);
}

static void pick(const struct smp *m)
{
    const struct node *n = &m->offers.node;
    offers_pick(&m->offers);
    for (unsigned d = 1; d < n->shape->nnodes; d++) {
        unsigned from = masters_before(n, d);
        for (unsigned i = 0; i < locals(n->shape, from); i++)
            dcoll_add_pick(n->s, masters_of(n, from) + i, place(m, n->index, d),
                           m->bundle);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct smp m = make(shape, args, rank, s);
    s->phase = 1;
    offers_post(&m.offers);
    exchange(&m);
    s->phase = 3;
    await_agents(&m);
    expect(&m);
    pick(&m);
    offers_close(&m.offers);
}

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    if (shape->nnodes == 1)
        return "it is for several nodes: shm-alltoallv is for one";
    return offers_refuse(shape, args);
}

const dcoll_algorithm_t alltoallv_smp = {
    .name = "smp-alltoallv",
    .collective = DCOLL_ALLTOALLV,
    .summary = "shared memory on nodes, one bundle from each node to each "
               "other",
    .memory = "NODE: a bound for each of its ranks and, times its ranks, for "
              "each other node; TEMP: N/ppn/ppn of the latter",
    .depth = 2,
    .refuses = refuses,
    .generate = generate,
};
