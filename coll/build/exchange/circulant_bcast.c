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

unsigned circulant_bcast_first(const struct circulant_bcast *b)
{
    return circulant_first(&b->graph, b->pieces);
}

unsigned circulant_bcast_last(const struct circulant_bcast *b)
{
    return circulant_last(&b->graph, b->pieces);
}

bool circulant_bcast_piece(const struct circulant_bcast *b, const int *phase,
                           unsigned round, unsigned *piece)
{
    return circulant_piece(&b->graph, b->pieces, phase[round % b->graph.q],
                           round, piece);
}

static unsigned target(const struct circulant_bcast *b, unsigned k)
{
    return flat_after(b->graph.n, b->me, b->graph.skip[k]);
}

unsigned circulant_bcast_source(const struct circulant_bcast *b, unsigned round)
{
    const unsigned skip = b->graph.skip[round % b->graph.q];
    return b->rank_of(b, flat_before(b->graph.n, b->me, skip));
}

unsigned circulant_bcast_target(const struct circulant_bcast *b, unsigned round)
{
    return b->rank_of(b, target(b, round % b->graph.q));
}

/* Is it the first round with a piece between these two ranks? */
static bool is_first(const struct circulant_bcast *b, const int *phase,
                     unsigned round)
{
    unsigned piece;
    return round < circulant_bcast_first(b) + b->graph.q ||
           !circulant_bcast_piece(b, phase, round - b->graph.q, &piece);
}

static void send(const struct circulant_bcast *b, unsigned round)
{
    const unsigned to = circulant_bcast_target(b, round);
    const unsigned k = b->shape->ports;
    unsigned piece;
    if (!circulant_bcast_piece(b, b->goes, round, &piece))
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
    if (!circulant_bcast_piece(b, b->comes, round, &piece))
        return;
    for (unsigned port = 0; port < b->shape->ports; port++)
        dcoll_add_wait(b->s, circulant_bcast_source(b, round), DCOLL_DATA, 0);
}

void circulant_bcast_grant(const struct circulant_bcast *b, grant_change_t *how)
{
    unsigned piece;
    for (unsigned i = circulant_bcast_first(b); i <= circulant_bcast_last(b);
         i++)
        if (circulant_bcast_piece(b, b->comes, i, &piece) &&
            is_first(b, b->comes, i))
            how(b->s, b->grant, b->args, circulant_bcast_source(b, i), 0);
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
    for (unsigned i = circulant_bcast_first(b); i <= circulant_bcast_last(b);
         i++) {
        b->s->step = (uint16_t)(i - circulant_bcast_first(b));
        send(b, i);
        receive(b, i);
    }
}
