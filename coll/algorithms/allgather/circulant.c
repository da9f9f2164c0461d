/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather of blocks of any sizes in n pieces each, by a broadcast of every
 * rank on the same circulant graph (build/exchange/circulant.h) at the same
 * time: n - 1 + ⌈log₂ N⌉ steps (Träff 2022, arXiv 2205.10072). In a round a
 * rank sends a piece of each block that the receiver still lacks, all of them
 * to one rank. So each round moves about 1/n of all blocks, however long the
 * longest is. Pieces are striped over the ports.
 *
 * The pieces of a message are not consecutive. With zero copy each is a put of
 * its own, from and to its place in RECV; else they are packed in TEMP.
 */
#include <math.h>
#include <stdlib.h>

#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/circulant.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/pace.h"
#include "coll/build/reduce/combine.h"
#include "dapl_rail/dapl_rail.h"

/* The most pieces of a block, and of all blocks. */
#define PIECES_MOST     1024.0
#define ALL_PIECES_MOST 65536.0

struct gather {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    unsigned n, rank;
    dcoll_schedule_t *s;
    grant_t grant;
    struct circulant graph;
    unsigned pieces;
    int *block; /* of a rank at a distance after an owner, in each round of the
                   first phase */
    size_t out; /* the place in TEMP of the next message */
    /* the places in TEMP of the next message to me, and to those I send to */
    size_t in, in_at[CIRCULANT_ROUNDS_MAX];
};

/* A piece of a block that a message has, on one port. */
struct piece {
    unsigned owner;
    dcoll_place_t place; /* in RECV */
    size_t bytes;
};

/* The number of pieces for which the steps take the least time. With zero copy
 * a step has a put for each long block. */
static unsigned pieces_for(const struct gather *g)
{
    const double bytes = (double)dcoll_block_begin(g->args, g->n);
    const double through = bytes / g->shape->ports / FLAT_STEP_BYTES;
    const double posts =
        g->args->zero_copy && bytes > 0 ? bytes / (double)g->args->bytes : 1;
    const double pieces = sqrt((g->graph.q - 1) * through / posts);
    const double most = fmin(PIECES_MOST, ALL_PIECES_MOST / g->n);
    return (unsigned)fmax(1, fmin(pieces, most));
}

/* Finds the next piece of a message from owner p->owner on. */
static bool find(const struct gather *g, unsigned receiver, unsigned round,
                 unsigned port, struct piece *p)
{
    const unsigned q = g->graph.q, k = g->shape->ports;
    for (unsigned number; p->owner < g->n; p->owner++) {
        const unsigned distance = flat_before(g->n, receiver, p->owner);
        if (!circulant_piece(&g->graph, g->pieces,
                             g->block[distance * q + round % q], round,
                             &number))
            continue;
        dcoll_args_t own = {.bytes = dcoll_block_bytes(g->args, p->owner)};
        const struct slices slices = slices_of(&own, g->pieces * k);
        const size_t begin = slices_begin(&slices, number * k + port);
        p->place =
            dcoll_at(DCOLL_RECV, dcoll_block_begin(g->args, p->owner) + begin);
        p->bytes = slices_begin(&slices, number * k + port + 1) - begin;
        return true;
    }
    return false;
}

/* The bytes of a message, and its puts with zero copy. false: there is none. */
static bool message(const struct gather *g, unsigned receiver, unsigned round,
                    unsigned port, size_t *bytes, unsigned *puts)
{
    struct piece p = {0};
    bool any = false;
    *bytes = *puts = 0;
    for (; find(g, receiver, round, port, &p); p.owner++, any = true) {
        *bytes += p.bytes;
        *puts += p.bytes > 0;
    }
    *puts += any && !*puts;
    return any;
}

static dcoll_place_t source_of(const struct gather *g, const struct piece *p)
{
    const size_t begin = dcoll_block_begin(g->args, p->owner);
    return p->owner == g->rank ? combine_at(board_source(g->args, g->rank),
                                            p->place.offset - begin)
                               : p->place;
}

static void put_pieces(const struct gather *g, unsigned to, unsigned round,
                       unsigned port)
{
    struct piece p = {0};
    unsigned puts = 0;
    for (; find(g, to, round, port, &p); p.owner++)
        if (p.bytes) {
            dcoll_add_put(g->s, to, port, source_of(g, &p), p.place, p.bytes);
            puts++;
        }
    if (!puts) /* it notifies */
        dcoll_add_put(g->s, to, port, dcoll_at(DCOLL_RECV, 0),
                      dcoll_at(DCOLL_RECV, 0), 0);
}

static void put_packed(struct gather *g, unsigned to, unsigned round,
                       unsigned port, size_t at)
{
    struct piece p = {0};
    const size_t begin = g->out;
    for (; find(g, to, round, port, &p); p.owner++) {
        flat_copy(g->s, source_of(g, &p), dcoll_at(DCOLL_TEMP, g->out),
                  p.bytes);
        g->out += p.bytes;
    }
    dcoll_add_put(g->s, to, port, dcoll_at(DCOLL_TEMP, begin),
                  dcoll_at(DCOLL_TEMP, at), g->out - begin);
}

static void unpack(struct gather *g, unsigned round, unsigned port)
{
    struct piece p = {0};
    for (; find(g, g->rank, round, port, &p); p.owner++) {
        flat_copy(g->s, dcoll_at(DCOLL_TEMP, g->in), p.place, p.bytes);
        g->in += p.bytes;
    }
}

static unsigned target(const struct gather *g, unsigned k)
{
    return flat_after(g->n, g->rank, g->graph.skip[k]);
}

/* Is it the first message between these two ranks? */
static bool is_first(const struct gather *g, unsigned receiver, unsigned round)
{
    const unsigned first = circulant_first(&g->graph, g->pieces);
    size_t bytes;
    unsigned puts;
    return round < first + g->graph.q ||
           !message(g, receiver, round - g->graph.q, 0, &bytes, &puts);
}

static void send(struct gather *g, unsigned round)
{
    const unsigned to = target(g, round % g->graph.q);
    size_t bytes, at = g->in_at[round % g->graph.q];
    unsigned puts;
    if (!message(g, to, round, 0, &bytes, &puts))
        return;
    pace(g->s, g->args);
    if (is_first(g, to, round))
        grant_take(g->s, g->grant, g->args, to);
    for (unsigned port = 0; port < g->shape->ports; port++) {
        if (g->args->zero_copy) {
            put_pieces(g, to, round, port);
            continue;
        }
        put_packed(g, to, round, port, at);
        message(g, to, round, port, &bytes, &puts);
        at += bytes;
    }
}

static void receive(struct gather *g, unsigned round)
{
    const unsigned from =
        flat_before(g->n, g->rank, g->graph.skip[round % g->graph.q]);
    size_t bytes;
    unsigned puts;
    for (unsigned port = 0; port < g->shape->ports; port++) {
        if (!message(g, g->rank, round, port, &bytes, &puts))
            return;
        for (unsigned i = g->args->zero_copy ? puts : 1; i-- > 0;)
            dcoll_add_wait(g->s, from, DCOLL_DATA, 0);
        if (!g->args->zero_copy)
            unpack(g, round, port);
    }
}

/* What those I send to receive in a round, from any rank, lies in a row. */
static void advance(struct gather *g, unsigned round)
{
    size_t bytes;
    unsigned puts;
    for (unsigned k = 0; k < g->graph.q && !g->args->zero_copy; k++)
        for (unsigned port = 0; port < g->shape->ports; port++)
            if (message(g, target(g, k), round, port, &bytes, &puts))
                g->in_at[k] += bytes;
}

static void change(const struct gather *g, grant_change_t *how)
{
    size_t bytes;
    unsigned puts;
    for (unsigned i = circulant_first(&g->graph, g->pieces);
         i <= circulant_last(&g->graph, g->pieces); i++)
        if (message(g, g->rank, i, 0, &bytes, &puts) && is_first(g, g->rank, i))
            how(g->s, g->grant, g->args,
                flat_before(g->n, g->rank, g->graph.skip[i % g->graph.q]), 0);
}

/* What arrives comes first in TEMP, then what is sent. */
static void lay_out(struct gather *g)
{
    const size_t all = dcoll_block_begin(g->args, g->n);
    g->in = 0;
    g->out = all - dcoll_block_bytes(g->args, g->rank);
    for (unsigned k = 0; k < g->graph.q; k++)
        g->in_at[k] = 0;
}

static bool plan(struct gather *g)
{
    g->graph = circulant_of(g->n);
    g->pieces = pieces_for(g);
    g->block = calloc((size_t)g->n * g->graph.q, sizeof *g->block);
    if (!g->block)
        return false;
    for (unsigned d = 0; d < g->n; d++)
        for (unsigned k = 0; k < g->graph.q; k++)
            g->block[d * g->graph.q + k] =
                d ? circulant_block(&g->graph, d, k) : CIRCULANT_NONE;
    return true;
}

static void keep_own(const struct gather *g)
{
    if (!g->args->in_place)
        dcoll_add_copy(
            g->s, board_source(g->args, g->rank),
            dcoll_at(DCOLL_RECV, dcoll_block_begin(g->args, g->rank)),
            dcoll_block_bytes(g->args, g->rank));
}

/* The own block is copied when all has been sent. */
static void exchange(struct gather *g)
{
    const unsigned first = circulant_first(&g->graph, g->pieces);
    const unsigned last = circulant_last(&g->graph, g->pieces);
    lay_out(g);
    for (unsigned i = first; i <= last; i++) {
        g->s->step = (uint16_t)(i - first);
        send(g, i);
        if (i == last)
            keep_own(g);
        receive(g, i);
        advance(g, i);
    }
    g->s->temp_bytes = g->args->zero_copy ? 0 : g->out;
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct gather g = {.shape = shape,
                       .args = args,
                       .n = shape->nranks,
                       .rank = rank,
                       .s = s,
                       .grant = grant_among_all(args, board_space(args))};
    s->phase = 1;
    if (g.n == 1) {
        keep_own(&g);
    } else if (plan(&g)) {
        change(&g, grant_open);
        exchange(&g);
        flat_complete(s);
        change(&g, grant_close);
    } else {
        s->error = DRAIL_ENOMEM;
    }
    free(g.block);
}

const dcoll_algorithm_t allgather_circulant = {
    .name = "circulant",
    .collective = DCOLL_ALLGATHER,
    .summary = "n pieces of each block on a circulant graph (Träff 2022)",
    .memory = "TEMP: 2N of the longest block at most; zero copy: none",
    .unequal = true,
    .generate = generate,
};
