/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all in one-to-one stages between nodes, planned from all
 * counts (FAST: Lei et al. 2025, arXiv 2505.09764). In a stage a node sends to
 * one other node and receives from one, so no port of a switch has several
 * senders; the stages take the largest sum of a row or column of the matrix
 * between nodes.
 *
 * The paper first moves elements within the node, so that each adapter sends
 * the same, and after a stage once more, to the right rank. Here all ranks of a
 * node share all its rails, and long messages are striped over them: both moves
 * would gain nothing. Elements go from where they are to their final place.
 *
 * A stage of w elements is the next w of those from node to node, in this
 * order: the pairs of ranks in which the receiver's number in its node is that
 * of the sender, then those in which it is 1 more, … So a stage has few pieces,
 * of different ranks on both sides.
 *
 * Stages overlap, as each takes a latency: a rank permits two stages that it
 * has not received, and more as long as they are short, since a switch can keep
 * these. It sends what its targets have permitted. Its first permission for a
 * sender is READY, which has the place; the others are credits.
 */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/decompose.h"

/* Stages under way: so many, and more up to so many bytes of a node. */
#define AHEAD_STAGES 2u
#define AHEAD_BYTES  ((uint64_t)1 << 22)

/* A stage has no fewer bytes of a node, unless it has all from it to another
 * node: shorter messages would take as long. */
#define LEAST_BYTES ((uint64_t)16 << 10)

struct staged {
    const dcoll_shape_t *shape;
    const dcoll_traffic_t *traffic;
    unsigned rank, node;
    unsigned turns; /* steps of a stage, with one port */
    dcoll_schedule_t *s;
    struct decomposition stages;
    /* by stage: elements of earlier ones to the same node, and from it */
    uint64_t *sent, *received;
};

/* Elements begin … end - 1 of those from one node to another. */
struct window {
    unsigned from, to;
    uint64_t begin, end;
};

/* The part of a window that one rank sends to another one. */
struct piece {
    unsigned from, to, turn;
    uint64_t begin, count; /* of their elements */
};

typedef void use_piece(const struct staged *x, const struct piece *piece);

static unsigned locals(const struct staged *x, unsigned node)
{
    return x->shape->node_begin[node + 1] - x->shape->node_begin[node];
}

static uint64_t counted(const struct staged *x, unsigned from, unsigned to)
{
    return x->traffic->counts[(size_t)from * x->shape->nranks + to];
}

/* Uses those that this rank sends, or receives. Within a node there is no first
 * turn, in which each rank would send to itself. */
static void each_piece(const struct staged *x, const struct window *w,
                       bool sends, use_piece *use)
{
    const unsigned *first = x->shape->node_begin;
    uint64_t at = 0;
    for (unsigned turn = 0; turn < x->turns; turn++)
        for (unsigned i = 0; i < locals(x, w->from); i++) {
            const unsigned j = (i + turn) % x->turns;
            if (j >= locals(x, w->to))
                continue;
            const unsigned from = first[w->from] + i, to = first[w->to] + j;
            const uint64_t next = at + counted(x, from, to);
            const uint64_t begin = w->begin > at ? w->begin : at;
            const uint64_t end = w->end < next ? w->end : next;
            const struct piece p = {.from = from,
                                    .to = to,
                                    .turn = turn - (w->from == w->to),
                                    .begin = begin - at,
                                    .count = begin < end ? end - begin : 0};
            at = next;
            if (p.count && p.from != p.to && (sends ? p.from : p.to) == x->rank)
                use(x, &p);
        }
}

/* -------------------------------------------------------------- pieces --- */

static dcoll_tag_t permission(const struct piece *p)
{
    return p->begin ? DCOLL_CREDIT : DCOLL_READY;
}

static unsigned port_of(const struct staged *x, const struct piece *p)
{
    return p->turn % x->shape->ports;
}

static void permit(const struct staged *x, const struct piece *p)
{
    dcoll_add_notify(x->s, p->from, port_of(x, p), permission(p));
}

static void put(const struct staged *x, const struct piece *p)
{
    const size_t at = p->begin * x->traffic->element;
    const uint16_t step = x->s->step;
    dcoll_add_wait(x->s, p->to, permission(p), 0);
    x->s->step = (uint16_t)(step + p->turn / x->shape->ports);
    dcoll_add_put(x->s, p->to, port_of(x, p), dcoll_at(DCOLL_SEND, at),
                  dcoll_at(DCOLL_RECV, at), p->count * x->traffic->element);
    x->s->step = step;
}

static void receive(const struct staged *x, const struct piece *p)
{
    dcoll_add_wait(x->s, p->from, DCOLL_DATA, 0);
}

/* -------------------------------------------------------------- stages --- */

static unsigned steps_of(const struct staged *x, unsigned turns)
{
    return (turns + x->shape->ports - 1) / x->shape->ports;
}

static void use_stage(const struct staged *x, unsigned stage, bool sends,
                      use_piece *use)
{
    const unsigned other = (sends ? decompose_target : decompose_sender)(
        &x->stages, stage, x->node);
    const uint64_t begin = (sends ? x->sent : x->received)[stage];
    const struct window w = {sends ? x->node : other, sends ? other : x->node,
                             begin, begin + x->stages.length[stage]};
    x->s->phase = 2;
    x->s->step =
        (uint16_t)(steps_of(x, x->turns - 1) + stage * steps_of(x, x->turns));
    if (other != x->node)
        each_piece(x, &w, sends, use);
}

/* Elements for ranks of this node: they go at once. */
static void use_own(const struct staged *x, bool sends, use_piece *use)
{
    const struct window all = {x->node, x->node, 0, UINT64_MAX};
    x->s->phase = 1;
    x->s->step = 0;
    each_piece(x, &all, sends, use);
}

/* The end of the stages that may be under way when the rank has received so
 * many: the same on all ranks. */
static unsigned window_end(const struct staged *x, unsigned received)
{
    uint64_t elements = 0;
    unsigned end = received;
    while (end < x->stages.stages &&
           (end < received + AHEAD_STAGES ||
            elements * x->traffic->element < AHEAD_BYTES))
        elements += x->stages.length[end++];
    return end;
}

/* Stages next … end - 1. */
static void use_stages(const struct staged *x, unsigned next, unsigned end,
                       bool sends, use_piece *use)
{
    for (; next < end; next++)
        use_stage(x, next, sends, use);
}

static void exchange(const struct staged *x)
{
    unsigned next = 0, end = window_end(x, 0);
    dcoll_add_expect_counts(x->s, x->rank);
    use_own(x, false, permit);
    use_stages(x, next, end, false, permit);
    use_own(x, true, put);
    use_stages(x, next, end, true, put);
    dcoll_add_pick(x->s, x->rank, dcoll_at(DCOLL_SEND, 0), 0);
    for (unsigned i = 0; i < x->stages.stages; i++) {
        use_stage(x, i, false, receive);
        next = end;
        end = window_end(x, i + 1);
        use_stages(x, next, end, false, permit);
        use_stages(x, next, end, true, put);
    }
    use_own(x, false, receive);
    dcoll_add_complete(x->s);
}

/* ------------------------------------------------------------ planning --- */

/* Elements from node to node. NULL: no memory. */
static uint64_t *between_nodes(const struct staged *x)
{
    const unsigned nodes = x->shape->nnodes;
    uint64_t *between = calloc((size_t)nodes * nodes, sizeof *between);
    for (unsigned i = 0; between && i < x->shape->nranks; i++) {
        uint64_t *row = between + (size_t)dcoll_shape_node(x->shape, i) * nodes;
        for (unsigned node = 0; node < nodes; node++)
            for (unsigned j = x->shape->node_begin[node];
                 j < x->shape->node_begin[node + 1]; j++)
                row[node] += counted(x, i, j);
    }
    return between;
}

/* Elements that earlier stages moved to, or from, the same node. */
static void add_up(const struct staged *x, bool sends, uint64_t *begin,
                   uint64_t *by_node)
{
    for (unsigned i = 0; i < x->stages.stages; i++) {
        const unsigned other = (sends ? decompose_target : decompose_sender)(
            &x->stages, i, x->node);
        begin[i] = by_node[other];
        by_node[other] += x->stages.length[i];
    }
}

/* False: no memory. */
static bool plan(struct staged *x)
{
    const unsigned nodes = x->shape->nnodes;
    const uint64_t least = LEAST_BYTES / x->traffic->element;
    uint64_t *between = between_nodes(x);
    bool done = between && decompose(nodes, between, least, &x->stages);
    uint64_t *by_node =
        done ? calloc(2 * (size_t)nodes, sizeof *by_node) : NULL;
    x->sent = calloc(2 * (size_t)x->stages.stages + 1, sizeof *x->sent);
    done = by_node && x->sent;
    if (done) {
        x->received = x->sent + x->stages.stages;
        add_up(x, true, x->sent, by_node);
        add_up(x, false, x->received, by_node + nodes);
    }
    free(by_node);
    free(between);
    return done;
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct staged x = {.shape = shape,
                       .traffic = args->traffic,
                       .rank = rank,
                       .node = dcoll_shape_node(shape, rank),
                       .turns = dcoll_shape_ppn(shape),
                       .s = s};
    if (plan(&x))
        exchange(&x);
    else
        s->error = DRAIL_ENOMEM;
    free(x.sent);
    decompose_free(&x.stages);
}

static const char *refuses(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    if (!args->traffic)
        return "it is for calls with counts";
    if (shape->nnodes == 1)
        return "it is for several nodes: shm-alltoallv is for one";
    if (!args->traffic->labelled)
        return "elements without counts have no place";
    return args->traffic->counts
               ? NULL
               : "it needs the counts of all ranks, which only calls without "
                 "bounds gather";
}

const dcoll_algorithm_t alltoallv_birkhoff = {
    .name = "birkhoff",
    .collective = DCOLL_ALLTOALLV,
    .summary = "one-to-one stages between nodes, planned from all counts (Lei "
               "et al. 2025)",
    .memory = "none",
    .by_counts = true,
    .placed = true,
    .refuses = refuses,
    .generate = generate,
};
