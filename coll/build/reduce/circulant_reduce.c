/* SPDX-License-Identifier: BSD-3-Clause */
/* TEMP: a place for each piece that may come; then, without direct puts, my
 * operand. */
#include <stdlib.h>

#include "dapl_rail/dapl_rail.h"
#include "coll/build/flat.h"
#include "coll/build/pace.h"
#include "coll/build/reduce/circulant_reduce.h"

static struct slices pieces_of(const struct circulant_reduce *r)
{
    struct slices pieces = r->reversed.slices;
    pieces.count = r->reversed.pieces;
    return pieces;
}

static unsigned rounds(const struct circulant_bcast *b)
{
    return circulant_bcast_last(b) - circulant_bcast_first(b) + 1;
}

/* Where the piece of a round comes to. */
static dcoll_place_t landing(const struct circulant_reduce *r, unsigned round)
{
    const struct slices pieces = pieces_of(r);
    const unsigned before = circulant_bcast_last(&r->reversed) - round;
    return dcoll_at(DCOLL_TEMP, before * slices_most(&pieces));
}

/* Of my operand, or of the result so far. */
static dcoll_place_t copied(const struct circulant_reduce *r, size_t begin)
{
    const struct slices pieces = pieces_of(r);
    return dcoll_at(DCOLL_TEMP,
                    rounds(&r->reversed) * slices_most(&pieces) + begin);
}

/* The last phase of the broadcast comes first: has it a piece in this round,
 * then this is my first message to, or from, that member. */
static bool is_first(const struct circulant_bcast *b, unsigned round)
{
    return round + b->graph.q > circulant_bcast_last(b);
}

/* @p at: where my operands of each piece are, combined with all that came. */
static void send(const struct circulant_reduce *r, unsigned round,
                 const dcoll_place_t *at)
{
    const struct circulant_bcast *b = &r->reversed;
    const struct slices pieces = pieces_of(r);
    const unsigned to = circulant_bcast_source(b, round), k = b->shape->ports;
    unsigned piece;
    if (!circulant_bcast_piece(b, b->comes, round, &piece))
        return;
    const size_t begin = slices_begin(&pieces, piece);
    dcoll_place_t from = at[piece];
    if (from.space == r->user.space && !r->direct) {
        from = copied(r, begin);
        dcoll_add_copy(b->s, at[piece], from,
                       slices_begin(&pieces, piece + 1) - begin);
    }
    pace(b->s, b->args);
    if (is_first(b, round))
        grant_take(b->s, GRANT_CREDIT, b->args, to);
    for (unsigned port = 0; port < k; port++) {
        const size_t part = slices_begin(&b->slices, piece * k + port);
        const size_t end = slices_begin(&b->slices, piece * k + port + 1);
        dcoll_add_put(b->s, to, port, combine_at(from, part - begin),
                      combine_at(landing(r, round), part - begin), end - part);
    }
}

static void receive(const struct circulant_reduce *r, unsigned round,
                    dcoll_place_t *at)
{
    const struct circulant_bcast *b = &r->reversed;
    const struct slices pieces = pieces_of(r);
    const dcoll_place_t came = landing(r, round);
    unsigned piece;
    if (!circulant_bcast_piece(b, b->goes, round, &piece))
        return;
    const size_t begin = slices_begin(&pieces, piece);
    const dcoll_place_t to = b->me ? came : dcoll_at(DCOLL_RECV, begin);
    for (unsigned port = 0; port < b->shape->ports; port++)
        dcoll_add_wait(b->s, circulant_bcast_target(b, round), DCOLL_DATA, 0);
    dcoll_add_combine(b->s, at[piece], came, to,
                      slices_begin(&pieces, piece + 1) - begin);
    at[piece] = to;
}

static void close_grants(const struct circulant_bcast *b)
{
    unsigned piece;
    for (unsigned i = circulant_bcast_first(b); i <= circulant_bcast_last(b);
         i++)
        if (is_first(b, i) && circulant_bcast_piece(b, b->goes, i, &piece))
            grant_close(b->s, GRANT_CREDIT, b->args,
                        circulant_bcast_target(b, i), 0);
}

void circulant_reduce(const struct circulant_reduce *r)
{
    const struct circulant_bcast *b = &r->reversed;
    const struct slices pieces = pieces_of(r);
    const unsigned first = circulant_bcast_first(b);
    dcoll_place_t *at = malloc(b->pieces * sizeof *at);
    if (!at) {
        b->s->error = DRAIL_ENOMEM;
        return;
    }
    b->s->temp_bytes =
        copied(r, b->me && !r->direct ? b->args->bytes : 0).offset;
    for (unsigned i = 0; i < b->pieces; i++)
        at[i] = combine_at(r->user, slices_begin(&pieces, i));
    for (unsigned i = circulant_bcast_last(b) + 1; i-- > first;) {
        b->s->step = (uint16_t)(circulant_bcast_last(b) - i);
        send(r, i, at);
        receive(r, i, at);
    }
    free(at);
    flat_complete(b->s);
    close_grants(b);
}
