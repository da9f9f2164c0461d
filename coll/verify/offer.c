/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular collectives without bundles: from SEND to RECV at once, or through
 * tables in the node's memory as coll/run/offer.c does it, cell by cell. The
 * cell of an entry holds how many elements there are, and where.
 */
#include "coll/build/offer.h"
#include "verify.h"

#define IS_OFFER   ((uint64_t)1 << 60)
#define IS_PULLED  ((uint64_t)1 << 51)
#define AT_BITS    24
#define COUNT_BITS 20
#define BITS(n)    (((uint64_t)1 << (n)) - 1)

static size_t element_of(const struct verifier *v)
{
    return v->program->args.traffic->element;
}

static struct region behind(const struct verifier *v, struct region r,
                            size_t bytes)
{
    r.cells += bytes / v->grain;
    r.offset += bytes;
    return r;
}

/* Where what is for that rank begins in SEND, or what is from it in RECV. */
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
    src = behind(v, src, begin_of(v, me, op->peer, false));
    dst = behind(v, dst, begin_of(v, op->peer, me, true));
    return verify_move(v, actor, &src, &dst,
                       count_of(v, me, op->peer) * element_of(v));
}

static size_t entry_of(unsigned rank)
{
    return sizeof(struct offer_head) + rank * sizeof(struct offer);
}

static uint64_t offer_value(const struct verifier *v, unsigned rank,
                            uint64_t elements, size_t at)
{
    uint64_t start = v->players[rank].start;
    return IS_OFFER | start << 52 | elements << AT_BITS | at / v->grain;
}

/* To the entry of that rank, and its elements to *at, if they are to go there
 * and fit. */
static bool offer_to(struct verifier *v, const dcoll_op_t *op,
                     const struct actor *actor, unsigned to,
                     const struct region *send, const struct region *table,
                     size_t *at)
{
    uint64_t count = count_of(v, actor->rank, to);
    size_t bytes = count * element_of(v);
    size_t begin = begin_of(v, actor->rank, to, false);
    bool pulled = bytes && (bytes >= v->program->args.traffic->pulled ||
                            bytes > op->bytes - *at);
    struct region entry = behind(v, *table, entry_of(to));
    struct region src = behind(v, *send, begin), dst = behind(v, *table, *at);
    uint64_t value = pulled
                         ? IS_PULLED | offer_value(v, actor->rank, count, begin)
                         : offer_value(v, actor->rank, count, *at);
    if (!verify_write(v, actor, &entry, 0, value))
        return false;
    v->players[actor->rank].pulled |= pulled;
    if (pulled)
        return true;
    *at += bytes;
    return verify_move(v, actor, &src, &dst, bytes);
}

void verify_offer(struct verifier *v, const dcoll_op_t *op,
                  const struct actor *actor, const struct region *send,
                  const struct region *table)
{
    size_t at = entry_of(v->nranks);
    v->players[actor->rank].pulled = false;
    if (!verify_write(v, actor, table, 0, offer_value(v, actor->rank, 0, 0)))
        return;
    for (unsigned to = 0; to < v->nranks; to++)
        if (to != actor->rank && !offer_to(v, op, actor, to, send, table, &at))
            return;
}

/* False: there is no entry of this start. */
static bool read_offer(struct verifier *v, const struct actor *actor,
                       const struct region *table, unsigned from,
                       uint64_t *value)
{
    struct region entry = behind(v, *table, entry_of(actor->rank));
    uint64_t count = count_of(v, from, actor->rank);
    if (!verify_read(v, actor, &entry, 0))
        return false;
    *value = entry.cells->value;
    if ((*value & ~IS_PULLED) >> AT_BITS ==
        offer_value(v, actor->rank, count, 0) >> AT_BITS)
        return true;
    verify_fail_at(v, actor->rank, v->players[actor->rank].start,
                   v->players[actor->rank].op,
                   "there is no offer of this start from rank %u", from);
    return false;
}

void verify_expect(struct verifier *v, const dcoll_op_t *op,
                   const struct actor *actor, const struct region *tables)
{
    const dcoll_deal_t *deal = &schedule_of(v, actor->rank)->deals[op->deal];
    uint64_t value;
    for (unsigned r = 0; r < v->nranks; r++) {
        struct region table = behind(v, *tables, r * deal->stride);
        if (r != actor->rank && !read_offer(v, actor, &table, r, &value))
            return;
    }
    v->players[actor->rank].expects = true;
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
    struct actor taker = *actor;
    uint64_t value;
    if (from == me) {
        src = behind(v, src, begin_of(v, me, me, false));
    } else if (!v->players[me].expects) {
        verify_fail_at(v, me, v->players[me].start, v->players[me].op,
                       "there was no EXPECT, which tells where it is to go");
        return;
    } else if (!read_offer(v, actor, table, from, &value)) {
        return;
    } else if (value & IS_PULLED) {
        src = behind(v, src, (value & BITS(AT_BITS)) * v->grain);
        if (!verify_start_get(v, me, &taker))
            return;
    } else {
        src = behind(v, *table, (value & BITS(AT_BITS)) * v->grain);
    }
    verify_move(v, &taker, &src, &dst, bytes);
}
