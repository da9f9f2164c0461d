/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast of long blocks in n pieces on a circulant graph
 * (build/exchange/circulant.h): n - 1 + ⌈log₂ N⌉ steps. Each piece is striped
 * over the ports. Ranks may run ahead of others, so the first put from one rank
 * to another is granted.
 */
#include <limits.h>
#include <math.h>

#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/circulant.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/pace.h"
#include "coll/build/reduce/combine.h"

#define PIECES_MOST 1024.0
#define NO_PIECE    (INT_MIN / 2) /* negative in all rounds */

struct bcast {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    struct circulant graph;
    unsigned me;            /* my rank, relative to the root */
    unsigned pieces;        /* n */
    struct slices slices;   /* of all pieces: one for each port */
    dcoll_place_t from, to; /* of the block, here and where it is put */
    grant_t grant;
    /* by round of the first phase: the piece that I receive, and send */
    int comes[CIRCULANT_ROUNDS_MAX], goes[CIRCULANT_ROUNDS_MAX];
};

static unsigned absolute(const struct bcast *b, unsigned rank)
{
    return flat_after(b->graph.n, rank, b->args->root);
}

/* The number of pieces for which the steps take the least time. */
static unsigned pieces_for(const dcoll_shape_t *shape,
                           const struct circulant *graph, size_t bytes)
{
    const double through = (double)bytes / shape->ports / FLAT_STEP_BYTES;
    const double pieces = sqrt((graph->q - 1) * through);
    return pieces < 1 ? 1 : (unsigned)fmin(pieces, PIECES_MOST);
}

/* The number of the first round: rounds are counted so that the last phase has
 * all of its rounds. */
static unsigned first_round(const struct bcast *b)
{
    const unsigned q = b->graph.q;
    return (q - (b->pieces - 1) % q) % q;
}

static unsigned last_round(const struct bcast *b)
{
    return first_round(b) + b->pieces + b->graph.q - 2;
}

/* The piece that a round moves, from those of the first phase. False: the round
 * moves none. */
static bool piece_of(const struct bcast *b, const int *phase, unsigned round,
                     unsigned *piece)
{
    const unsigned k = round % b->graph.q;
    const long number = phase[k] + (long)(round - k) - (long)first_round(b);
    *piece = number < (long)b->pieces ? (unsigned)number : b->pieces - 1;
    return number >= 0;
}

static unsigned source(const struct bcast *b, unsigned k)
{
    return flat_before(b->graph.n, b->me, b->graph.skip[k]);
}

static unsigned target(const struct bcast *b, unsigned k)
{
    return flat_after(b->graph.n, b->me, b->graph.skip[k]);
}

/* Is it the first round with a piece between these two ranks? */
static bool is_first(const struct bcast *b, const int *phase, unsigned round)
{
    unsigned piece;
    return round < first_round(b) + b->graph.q ||
           !piece_of(b, phase, round - b->graph.q, &piece);
}

static void send(const struct bcast *b, unsigned round)
{
    const unsigned to = target(b, round % b->graph.q), k = b->shape->ports;
    unsigned piece;
    if (!piece_of(b, b->goes, round, &piece))
        return;
    pace(b->s, b->args);
    if (is_first(b, b->goes, round))
        grant_take(b->s, b->grant, b->args, absolute(b, to));
    for (unsigned port = 0; port < k; port++) {
        const size_t begin = slices_begin(&b->slices, piece * k + port);
        const size_t end = slices_begin(&b->slices, piece * k + port + 1);
        dcoll_add_put(b->s, absolute(b, to), port, combine_at(b->from, begin),
                      combine_at(b->to, begin), end - begin);
    }
}

static void receive(const struct bcast *b, unsigned round)
{
    const unsigned from = source(b, round % b->graph.q);
    unsigned piece;
    if (!piece_of(b, b->comes, round, &piece))
        return;
    for (unsigned port = 0; port < b->shape->ports; port++)
        dcoll_add_wait(b->s, absolute(b, from), DCOLL_DATA, 0);
}

static void change(const struct bcast *b, grant_change_t *how)
{
    unsigned piece;
    for (unsigned i = first_round(b); i <= last_round(b); i++)
        if (piece_of(b, b->comes, i, &piece) && is_first(b, b->comes, i))
            how(b->s, b->grant, b->args, absolute(b, source(b, i % b->graph.q)),
                0);
}

/* The piece for a rank in a round of the first phase; the root has them all. */
static int piece_for(const struct bcast *b, unsigned rank, unsigned k)
{
    return rank ? circulant_block(&b->graph, rank, k) : NO_PIECE;
}

static void look_up(struct bcast *b)
{
    for (unsigned k = 0; k < b->graph.q; k++) {
        b->comes[k] = piece_for(b, b->me, k);
        b->goes[k] = piece_for(b, target(b, k), k);
    }
}

static void run(const struct bcast *b, bool copies)
{
    const bool root = b->me == 0;
    change(b, grant_open);
    if (copies && root)
        dcoll_add_copy(b->s, dcoll_at(DCOLL_SEND, 0), b->from, b->args->bytes);
    for (unsigned i = first_round(b); i <= last_round(b); i++) {
        b->s->step = (uint16_t)(i - first_round(b));
        send(b, i);
        receive(b, i);
    }
    if (copies && !root)
        dcoll_add_copy(b->s, b->from, dcoll_at(DCOLL_RECV, 0), b->args->bytes);
    flat_complete(b->s);
    change(b, grant_close);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const bool copies = !args->zero_copy, root = rank == args->root;
    const unsigned n = shape->nranks;
    if (n == 1)
        return;
    struct bcast b = {.shape = shape,
                      .args = args,
                      .s = s,
                      .graph = circulant_of(n),
                      .me = flat_before(n, rank, args->root),
                      .to = dcoll_at(board_space(args), 0),
                      .grant = grant_along_tree(board_space(args))};
    b.from = copies || !root ? b.to : dcoll_at(DCOLL_SEND, 0);
    b.pieces = pieces_for(shape, &b.graph, args->bytes);
    look_up(&b);
    b.slices = slices_of(args, b.pieces * shape->ports);
    s->phase = 1;
    s->temp_bytes = copies ? args->bytes : 0;
    run(&b, copies);
}

const dcoll_algorithm_t bcast_circulant = {
    .name = "circulant",
    .collective = DCOLL_BCAST,
    .summary = "n pieces on a circulant graph, striped over ports (Träff 2025)",
    .memory = "TEMP: 1 block; zero copy: none",
    .generate = generate,
};
