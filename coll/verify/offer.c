/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular collectives without stages: straight from SEND to RECV, or through
 * tables in node memory as coll/run/irregular/offer.c and pack.c do, cell by
 * cell. The cell of an entry holds the number of elements and their place.
 */
#include <string.h>

#include "coll/build/irregular/offer.h"
#include "verify.h"

#define IS_OFFER   ((uint64_t)1 << 60)
#define IS_PULLED  ((uint64_t)1 << 59)
#define START_AT   52
#define FROM_AT    45
#define TO_AT      38
#define RANK_BITS  7
#define COUNT_AT   22
#define PLACE_BITS 22
#define BITS(n)    (((uint64_t)1 << (n)) - 1)

static size_t element_of(const struct verifier *v)
{
    return v->program->args.traffic->element;
}

/* A rank's part for itself: in its table only without counts. */
static bool in_table(const struct verifier *v, unsigned from, unsigned to)
{
    return from != to || !v->program->args.traffic->labelled;
}

static bool same_node(const struct verifier *v, unsigned a, unsigned b)
{
    return dcoll_shape_node(v->shape, a) == dcoll_shape_node(v->shape, b);
}

static struct region behind(const struct verifier *v, struct region r,
                            size_t bytes)
{
    r.cells += bytes / v->grain;
    r.offset += bytes;
    return r;
}

/* The begin in SEND of the elements for a rank, or in RECV of those from it. */
static size_t begin_of(const struct verifier *v, unsigned rank, unsigned other,
                       bool receives)
{
    uint64_t before = 0;
    for (unsigned r = 0; r < other; r++)
        before += receives ? count_of(v, r, rank) : count_of(v, rank, r);
    return before * element_of(v);
}

bool verify_put_placed(struct verifier *v, const dcoll_op_t *op,
                       const struct actor *actor)
{
    unsigned me = actor->rank;
    struct region src = {v->players[me].user[DCOLL_SEND], 0, me, DCOLL_SEND};
    struct region dst = {v->players[op->peer].user[DCOLL_RECV], 0, op->peer,
                         DCOLL_RECV};
    const size_t part = count_of(v, me, op->peer) * element_of(v);
    src = behind(v, src, begin_of(v, me, op->peer, false));
    dst = behind(v, dst, begin_of(v, op->peer, me, true));
    if (op->sized)
        return verify_move(v, actor, &src, &dst, part);
    if (op->bytes > part || op->src.offset > part - op->bytes ||
        op->dst.offset > part - op->bytes) {
        verify_fail_at(v, me, v->players[me].start, v->players[me].op,
                       "rank %u gets only %zu bytes", op->peer, part);
        return false;
    }
    src = behind(v, src, op->src.offset);
    dst = behind(v, dst, op->dst.offset);
    return verify_move(v, actor, &src, &dst, op->bytes);
}

/* The value of an entry, of the actor's start: number of elements, and place.
 */
static uint64_t offer_value(const struct verifier *v, const struct actor *actor,
                            unsigned from, unsigned to, size_t at)
{
    uint64_t start = v->players[actor->rank].start;
    return IS_OFFER | start << START_AT | (from & BITS(RANK_BITS)) << FROM_AT |
           (to & BITS(RANK_BITS)) << TO_AT | count_of(v, from, to) << COUNT_AT |
           at / v->grain;
}

/* The end of the elements in a table of so much room, for any counts. */
static size_t reach_of(const struct verifier *v, size_t room)
{
    size_t most = offer_table(v->nranks) +
                  v->program->args.traffic->max_rank * element_of(v);
    return most < room ? most : room;
}

static size_t least_pulled(const struct verifier *v, unsigned rank)
{
    bool mapped = (v->players[rank].start + rank) % MAPPED_EVERY == 0;
    size_t largest = 0;
    for (unsigned to = 0; to < v->nranks; to++)
        if (to != rank && same_node(v, rank, to) &&
            count_of(v, rank, to) > largest)
            largest = count_of(v, rank, to);
    return offer_least_pulled(v->program->args.traffic->pulled, mapped,
                              largest * element_of(v));
}

/* Writes the entry of a rank, and its elements to *at if they belong in the
 * table and fit. */
static bool offer_to(struct verifier *v, const dcoll_op_t *op,
                     const struct actor *actor, unsigned to,
                     const struct region *send, const struct region *table,
                     size_t *at)
{
    size_t bytes = count_of(v, actor->rank, to) * element_of(v);
    size_t begin = begin_of(v, actor->rank, to, false);
    bool pulled =
        bytes && v->program->args.traffic->labelled &&
        same_node(v, actor->rank, to) &&
        (bytes >= least_pulled(v, actor->rank) || bytes > op->bytes - *at);
    struct region entry = behind(v, *table, offer_table(to));
    struct region src = behind(v, *send, begin), dst = behind(v, *table, *at);
    uint64_t value =
        offer_value(v, actor, actor->rank, to, pulled ? begin : *at);
    if (!pulled && bytes > op->bytes - *at) {
        verify_fail_at(v, actor->rank, v->players[actor->rank].start,
                       v->players[actor->rank].op,
                       "there is no room for what is for rank %u", to);
        return false;
    }
    if (!verify_write(v, actor, &entry, 0, value | (pulled ? IS_PULLED : 0)))
        return false;
    v->players[actor->rank].pulled[to] = pulled;
    if (pulled)
        return true;
    *at += bytes;
    return verify_move(v, actor, &src, &dst, bytes);
}

static bool offer_head(struct verifier *v, const struct actor *actor,
                       const struct region *table)
{
    uint64_t start = v->players[actor->rank].start;
    return verify_write(v, actor, table, 0, IS_OFFER | start << START_AT);
}

/* In TEMP: a table for each other rank. All elements stay in SEND. */
static void offer_counts(struct verifier *v, const struct actor *actor,
                         const struct region *tables)
{
    for (unsigned to = 0; to < v->nranks; to++) {
        struct region table = behind(v, *tables, to * offer_table(1));
        struct region entry = behind(v, table, offer_table(0));
        uint64_t value = offer_value(v, actor, actor->rank, to, 0);
        if (to != actor->rank && (!offer_head(v, actor, &table) ||
                                  !verify_write(v, actor, &entry, 0, value)))
            return;
    }
}

void verify_offer(struct verifier *v, const dcoll_op_t *op,
                  const struct actor *actor, const struct region *send,
                  const struct region *table)
{
    size_t at = offer_table(v->nranks);
    memset(v->players[actor->rank].pulled, 0, v->nranks * sizeof(bool));
    if (op->dst.space == DCOLL_TEMP) {
        offer_counts(v, actor, table);
        return;
    }
    if (!offer_head(v, actor, table))
        return;
    for (unsigned to = 0; to < v->nranks; to++)
        if (in_table(v, actor->rank, to) &&
            !offer_to(v, op, actor, to, send, table, &at))
            return;
    verify_may_write(v, actor, table, at, reach_of(v, op->bytes));
}

/* Reads the entry of rank `from` for rank `to`. False: it is not of this start.
 */
static bool read_offer(struct verifier *v, const struct actor *actor,
                       const struct region *entry, unsigned from, unsigned to,
                       uint64_t *value)
{
    if (!verify_read(v, actor, entry, 0))
        return false;
    *value = entry->cells->value;
    if ((*value & ~IS_PULLED) >> PLACE_BITS ==
        offer_value(v, actor, from, to, 0) >> PLACE_BITS)
        return true;
    verify_fail_at(v, actor->rank, v->players[actor->rank].start,
                   v->players[actor->rank].op,
                   "there is no offer of this start from rank %u", from);
    return false;
}

static size_t place_of(const struct verifier *v, uint64_t value)
{
    return (value & BITS(PLACE_BITS)) * v->grain;
}

/* Has the table or bundle so many bytes there? */
static bool holds(struct verifier *v, const struct actor *actor, size_t room,
                  size_t place, size_t bytes)
{
    if (place <= room && bytes <= room - place)
        return true;
    verify_fail_at(v, actor->rank, v->players[actor->rank].start,
                   v->players[actor->rank].op,
                   "what is offered is not in a room of %zu bytes", room);
    return false;
}

/* ----------------------------------------------------------- bundles --- */

/* A bundle from one node to another. */
struct crossing {
    unsigned first, senders, to, receivers;
};

static struct crossing crossing_of(const struct verifier *v, unsigned from,
                                   unsigned to)
{
    const unsigned *begin = v->shape->node_begin;
    return (struct crossing){begin[dcoll_shape_node(v->shape, from)],
                             dcoll_shape_locals(v->shape, from),
                             begin[dcoll_shape_node(v->shape, to)],
                             dcoll_shape_locals(v->shape, to)};
}

/* Packs elements at *at of the bundle. */
static bool pack_part(struct verifier *v, const dcoll_op_t *op,
                      const struct actor *actor, const struct region *table,
                      const struct region *bundle, const struct crossing *x,
                      unsigned from, unsigned to, size_t *at)
{
    size_t room = schedule_of(v, actor->rank)->deals[op->deal].stride;
    struct region theirs = behind(v, *table, offer_table(to));
    struct region entry = behind(
        v, *bundle, offer_entry(from - x->first, x->receivers, to - x->to));
    size_t bytes = count_of(v, from, to) * element_of(v);
    uint64_t value;
    if (!read_offer(v, actor, &theirs, from, to, &value) ||
        !holds(v, actor, room, place_of(v, value), bytes))
        return false;
    if (bytes > op->bytes - *at) {
        verify_fail_at(v, actor->rank, v->players[actor->rank].start,
                       v->players[actor->rank].op,
                       "there is no room for so much in a bundle");
        return false;
    }
    struct region src = behind(v, *table, place_of(v, value));
    struct region dst = behind(v, *bundle, *at);
    value = offer_value(v, actor, from, to, *at);
    *at += bytes;
    return verify_write(v, actor, &entry, 0, value) &&
           verify_move(v, actor, &src, &dst, bytes);
}

void verify_pack(struct verifier *v, const dcoll_op_t *op,
                 const struct actor *actor, const struct region *tables,
                 const struct region *bundle)
{
    const dcoll_deal_t *deal = &schedule_of(v, actor->rank)->deals[op->deal];
    const struct crossing x = crossing_of(v, actor->rank, op->peer);
    size_t at = offer_section(x.senders, x.receivers);
    for (unsigned i = 0; i < x.senders; i++) {
        struct region table = behind(v, *tables, i * deal->stride);
        struct region head = behind(v, *bundle, offer_section(i, x.receivers));
        if (!verify_move(v, actor, &table, &head, sizeof(struct offer_head)) ||
            !verify_may_read(v, actor, &table, offer_table(v->nranks),
                             reach_of(v, deal->stride)))
            return;
        for (unsigned r = 0; r < x.receivers; r++)
            if (!pack_part(v, op, actor, &table, bundle, &x, x.first + i,
                           x.to + r, &at))
                return;
    }
    if (verify_may_write(v, actor, bundle, at, op->bytes))
        verify_head(v, actor, bundle, at);
}

/* -------------------------------------------- expecting and picking --- */

/* The place of the entry for the actor in a table or bundle. */
static struct region entry_for(const struct verifier *v, unsigned me,
                               unsigned from, const struct region *src)
{
    const struct crossing x = crossing_of(v, from, me);
    return behind(v, *src,
                  same_node(v, from, me)
                      ? offer_table(me)
                      : offer_entry(from - x.first, x.receivers, me - x.to));
}

static void expect_bundle(struct verifier *v, const dcoll_op_t *op,
                          const struct actor *actor,
                          const struct region *bundle)
{
    const struct crossing x = crossing_of(v, op->peer, actor->rank);
    size_t bytes;
    uint64_t value;
    if (!verify_arrived(v, actor, bundle, op->bytes, &bytes))
        return;
    for (unsigned i = 0; i < x.senders; i++) {
        unsigned from = x.first + i;
        struct region head = behind(v, *bundle, offer_section(i, x.receivers));
        struct region entry = entry_for(v, actor->rank, from, bundle);
        if (!verify_read(v, actor, &head, 0) ||
            !read_offer(v, actor, &entry, from, actor->rank, &value))
            return;
    }
    v->players[actor->rank].expected++;
}

static void expect_node(struct verifier *v, const dcoll_op_t *op,
                        const struct actor *actor, const struct region *tables)
{
    const dcoll_deal_t *deal = &schedule_of(v, actor->rank)->deals[op->deal];
    const struct crossing x = crossing_of(v, op->peer, actor->rank);
    struct player *p = &v->players[actor->rank];
    uint64_t value;
    for (unsigned i = 0; i < x.senders; i++) {
        struct region table = behind(v, *tables, i * deal->stride);
        struct region entry = entry_for(v, actor->rank, x.first + i, &table);
        if (in_table(v, x.first + i, actor->rank) &&
            (!verify_read(v, actor, &table, 0) ||
             !read_offer(v, actor, &entry, x.first + i, actor->rank, &value)))
            return;
    }
    if (++p->expected != v->shape->nnodes)
        verify_fail_at(v, actor->rank, p->start, p->op,
                       "it has looked at what comes from %u of %u nodes",
                       p->expected, v->shape->nnodes);
}

static void expect_counts(struct verifier *v, const struct actor *actor,
                          const struct region *tables)
{
    unsigned me = actor->rank;
    uint64_t value;
    for (unsigned from = 0; from < v->nranks; from++) {
        struct region table = behind(v, *tables, from * offer_table(1));
        struct region entry = behind(v, table, offer_table(0));
        if (from != me && (!verify_read(v, actor, &table, 0) ||
                           !read_offer(v, actor, &entry, from, me, &value)))
            return;
    }
    v->players[me].expected = v->shape->nnodes;
}

bool verify_expected(struct verifier *v, unsigned rank)
{
    const struct player *p = &v->players[rank];
    if (p->expected == v->shape->nnodes)
        return true;
    verify_fail_at(v, rank, p->start, p->op,
                   "there was no EXPECT, which tells what may come where");
    return false;
}

void verify_expect(struct verifier *v, const dcoll_op_t *op,
                   const struct actor *actor, const struct region *src)
{
    if (op->src.space == DCOLL_TEMP)
        expect_counts(v, actor, src);
    else if (op->src.space == DCOLL_RECV)
        v->players[actor->rank].expected = v->shape->nnodes;
    else if (same_node(v, op->peer, actor->rank))
        expect_node(v, op, actor, src);
    else
        expect_bundle(v, op, actor, src);
}

void verify_pick(struct verifier *v, const dcoll_op_t *op,
                 const struct actor *actor, const struct region *table,
                 const struct region *recv)
{
    unsigned me = actor->rank, from = op->peer;
    size_t bytes = count_of(v, from, me) * element_of(v);
    struct region dst = behind(v, *recv, begin_of(v, me, from, true));
    struct region src = {v->players[from].user[DCOLL_SEND], 0, from,
                         DCOLL_SEND};
    struct region entry = entry_for(v, me, from, table);
    struct actor taker = *actor;
    uint64_t value;
    if (!verify_expected(v, me))
        return;
    if (!in_table(v, from, me)) {
        src = behind(v, src, begin_of(v, me, me, false));
    } else if (!read_offer(v, actor, &entry, from, me, &value)) {
        return;
    } else if (value & IS_PULLED) {
        src = behind(v, src, place_of(v, value));
        if (!verify_start_get(v, me, &taker))
            return;
    } else if (!holds(v, actor, op->bytes, place_of(v, value), bytes)) {
        return;
    } else {
        src = behind(v, *table, place_of(v, value));
        /* the writer writes all of it: reading its end is enough */
        size_t end =
            same_node(v, from, me) ? reach_of(v, op->bytes) : op->bytes;
        verify_may_read(v, actor, table, end - v->grain, end);
    }
    verify_move(v, &taker, &src, &dst, bytes);
}
