/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "coll/build/exchange/circulant_bcast.h"
#include "coll/build/flat.h"
#include "coll/build/pace.h"

#define PIECES_MOST 1024.0

/* The number of pieces for which the steps take the least time. */
static unsigned pieces_for(const struct circulant_bcast *b)
{
    const double through =
        (double)b->args->bytes / b->shape->ports / FLAT_STEP_BYTES;
    const double pieces = sqrt((b->graph.q - 1) * through);
    return pieces < 1 ? 1 : (unsigned)fmin(pieces, PIECES_MOST);
}

static unsigned first_round(const struct circulant_bcast *b)
{
    return circulant_first(&b->graph, b->pieces);
}

static unsigned last_round(const struct circulant_bcast *b)
{
    return circulant_last(&b->graph, b->pieces);
}

/* The piece that a round moves, from those of the first phase. False: the round
 * moves none. */
static bool piece_of(const struct circulant_bcast *b, const int *phase,
                     unsigned round, unsigned *piece)
{
    return circulant_piece(&b->graph, b->pieces, phase[round % b->graph.q],
                           round, piece);
}

static unsigned source(const struct circulant_bcast *b, unsigned k)
{
    return b->rank_of(b, flat_before(b->graph.n, b->me, b->graph.skip[k]));
}

static unsigned target(const struct circulant_bcast *b, unsigned k)
{
    return flat_after(b->graph.n, b->me, b->graph.skip[k]);
}

/* Is it the first round with a piece between these two ranks? */
static bool is_first(const struct circulant_bcast *b, const int *phase,
                     unsigned round)
{
    unsigned piece;
    return round < first_round(b) + b->graph.q ||
           !piece_of(b, phase, round - b->graph.q, &piece);
}

static void send(const struct circulant_bcast *b, unsigned round)
{
    const unsigned to = b->rank_of(b, target(b, round % b->graph.q));
    const unsigned k = b->shape->ports;
    unsigned piece;
    if (!piece_of(b, b->goes, round, &piece))
        return;
    pace(b->s, b->args);
    if (is_first(b, b->goes, round))
        grant_take(b->s, b->grant, b->args, to);
    for (unsigned port = 0; port < k; port++) {
        const size_t begin = slices_begin(&b->slices, piece * k + port);
        const size_t end = slices_begin(&b->slices, piece * k + port + 1);
        dcoll_add_put(b->s, to, port, combine_at(b->from, begin),
                      combine_at(b->to, begin), end - begin);
    }
}

static void receive(const struct circulant_bcast *b, unsigned round)
{
    unsigned piece;
    if (!piece_of(b, b->comes, round, &piece))
        return;
    for (unsigned port = 0; port < b->shape->ports; port++)
        dcoll_add_wait(b->s, source(b, round % b->graph.q), DCOLL_DATA, 0);
}

void circulant_bcast_grant(const struct circulant_bcast *b, grant_change_t *how)
{
    unsigned piece;
    for (unsigned i = first_round(b); i <= last_round(b); i++)
        if (piece_of(b, b->comes, i, &piece) && is_first(b, b->comes, i))
            how(b->s, b->grant, b->args, source(b, i % b->graph.q), 0);
}

/* The piece for a member in a round of the first phase; the root has all. */
static int piece_for(const struct circulant_bcast *b, unsigned member,
                     unsigned k)
{
    return member ? circulant_block(&b->graph, member, k) : CIRCULANT_NONE;
}

void circulant_bcast_plan(struct circulant_bcast *b, unsigned members)
{
    b->graph = circulant_of(members);
    b->pieces = pieces_for(b);
    for (unsigned k = 0; k < b->graph.q; k++) {
        b->comes[k] = piece_for(b, b->me, k);
        b->goes[k] = piece_for(b, target(b, k), k);
    }
    b->slices = slices_of(b->args, b->pieces * b->shape->ports);
}

void circulant_bcast_run(const struct circulant_bcast *b)
{
    for (unsigned i = first_round(b); i <= last_round(b); i++) {
        b->s->step = (uint16_t)(i - first_round(b));
        send(b, i);
        receive(b, i);
    }
}
