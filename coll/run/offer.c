/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of what ranks of a node have for each other, and taking it. */
#include <string.h>

#include "coll/build/offer.h"
#include "coll/run/offer.h"
#include "coll/run/reach.h"
#include "coll/run/transfers.h"

static struct offer *entries(unsigned char *table)
{
    return (struct offer *)(table + sizeof(struct offer_head));
}

static size_t table_bytes(const dcoll_request_t *q)
{
    return sizeof(struct offer_head) +
           q->team->shape.nranks * sizeof(struct offer);
}

/* ------------------------------------------------------------ offering --- */

/* Is what is for that rank to be read from SEND? used: bytes of the room. */
static bool is_pulled(const dcoll_request_t *q, size_t bytes, size_t used,
                      size_t room)
{
    return bytes && (bytes >= q->traffic.pulled || bytes > room - used);
}

static size_t begin_of(const struct elements *e, unsigned to, size_t next)
{
    return e->send_displs ? e->send_displs[to] * e->element : next;
}

/* Sees to each rank's part in turn: `at` is where it begins in SEND. */
typedef void see_part(dcoll_request_t *q, unsigned to, size_t at, size_t bytes,
                      bool pulled, size_t used, void *arg);

static void each_part(dcoll_request_t *q, size_t room, see_part *see, void *arg)
{
    const struct elements *e = &q->elements;
    unsigned n = q->team->shape.nranks, me = q->team->rank;
    size_t next = 0, used = table_bytes(q);
    for (unsigned to = 0; to < n; to++) {
        size_t at = begin_of(e, to, next);
        size_t bytes = e->send_counts[to] * e->element;
        next = at + bytes;
        if (to == me)
            continue;
        bool pulled = is_pulled(q, bytes, used, room);
        see(q, to, at, bytes, pulled, used, arg);
        used += pulled ? 0 : bytes;
    }
}

static void see_end(dcoll_request_t *q, unsigned to, size_t at, size_t bytes,
                    bool pulled, size_t used, void *arg)
{
    size_t *end = arg;
    (void)q;
    (void)to;
    (void)used;
    if (pulled && at + bytes > *end)
        *end = at + bytes;
}

static const dcoll_op_t *offering(const dcoll_request_t *q)
{
    for (unsigned i = 0; i < q->schedule.nops; i++)
        if (q->schedule.ops[i].kind == DCOLL_OFFER)
            return &q->schedule.ops[i];
    return NULL;
}

size_t offer_extent(const dcoll_request_t *q)
{
    size_t end = 0;
    const dcoll_op_t *op = offering(q);
    if (op && q->traffic.labelled && !q->dealing.refused && !q->team->readable)
        each_part((dcoll_request_t *)q, op->bytes, see_end, &end);
    return end;
}

static void write_part(dcoll_request_t *q, unsigned to, size_t at, size_t bytes,
                       bool pulled, size_t used, void *arg)
{
    unsigned char *table = arg;
    const unsigned char *send = q->elements.send;
    uint64_t begin = q->team->readable ? (uintptr_t)send + at : at;
    entries(table)[to] = (struct offer){q->elements.send_counts[to],
                                        pulled ? OFFER_PULL | begin : used};
    q->dealing.pulled |= pulled;
    if (!pulled && bytes)
        memcpy(table + used, send + at, bytes);
}

/* Without counts: all elements go to NODE, in the order of destinations. */
static void write_unlabelled(dcoll_request_t *q, unsigned char *table)
{
    const struct elements *e = &q->elements;
    struct offer *entry = entries(table);
    unsigned n = q->team->shape.nranks;
    size_t count = elements_count(e), at = table_bytes(q);
    memset(entry, 0, n * sizeof *entry);
    for (size_t i = 0; i < count; i++)
        entry[elements_destination(e, e->send + i * e->element)].elements++;
    for (unsigned to = 0; to < n; to++) {
        entry[to].at = at;
        at += entry[to].elements * e->element;
    }
    for (size_t i = 0; i < count; i++) {
        const unsigned char *element = e->send + i * e->element;
        struct offer *o = &entry[elements_destination(e, element)];
        memcpy(table + o->at, element, e->element);
        o->at += e->element;
    }
    for (unsigned to = 0; to < n; to++)
        entry[to].at -= entry[to].elements * e->element;
}

int offer_elements(dcoll_request_t *q, const dcoll_op_t *op)
{
    unsigned char *table = address(q, op->dst);
    *(struct offer_head *)table =
        (struct offer_head){q->dealing.refused, q->elements.element};
    q->dealing.pulled = false;
    if (q->dealing.refused)
        return 0;
    if (q->traffic.labelled)
        each_part(q, op->bytes, write_part, table);
    else
        write_unlabelled(q, table);
    return 0;
}

/* ----------------------------------------------------------- expecting --- */

/* Has the rank something to offer, of the same elements? */
static int check_head(const dcoll_request_t *q, unsigned from,
                      const struct offer_head *head)
{
    if (head->error)
        return team_fail(q->team, (int)head->error, "alltoallv: rank %u: %s",
                         from, drail_strerror((int)head->error));
    if (head->element != q->elements.element)
        return team_fail(q->team, DRAIL_EINVAL,
                         "alltoallv: elements of rank %u have %zu bytes, "
                         "those of rank %u %llu",
                         q->team->rank, q->elements.element, from,
                         (unsigned long long)head->element);
    return 0;
}

/* Are these elements within a table of so much room? What stays in SEND is
 * looked at by the transport. */
static bool is_within(const dcoll_request_t *q, const struct offer *offer,
                      size_t room)
{
    size_t element = q->elements.element;
    if (offer->elements > PTRDIFF_MAX / element)
        return false;
    return offer->at & OFFER_PULL ||
           (offer->at <= room && offer->elements * element <= room - offer->at);
}

/* What a rank's table has for this one. Whoever may write there may do so at
 * any time: it is read once. Its own part is in no table if there are counts.
 */
static int expect_from(dcoll_request_t *q, unsigned from, unsigned char *table,
                       size_t room)
{
    unsigned me = q->team->rank;
    struct offer *offer = &q->dealing.offers[from];
    int rc = check_head(q, from, (const struct offer_head *)table);
    if (rc)
        return rc;
    if (from == me && q->traffic.labelled)
        *offer = (struct offer){q->elements.send_counts[me], 0};
    else
        memcpy(offer, &entries(table)[me], sizeof *offer);
    q->dealing.came[from] = offer->elements;
    return is_within(q, offer, from == me ? SIZE_MAX : room)
               ? 0
               : team_fail(q->team, DRAIL_EINVAL,
                           "alltoallv: rank %u offers rank %u %llu elements, "
                           "which are not in its table",
                           from, me, (unsigned long long)offer->elements);
}

int offer_expect(dcoll_request_t *q, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = &q->schedule.deals[op->deal];
    unsigned char *tables = address(q, op->src);
    int *verdict = &q->dealing.verdict;
    *verdict = q->dealing.refused;
    for (unsigned r = 0; !*verdict && r < q->team->shape.nranks; r++)
        *verdict = expect_from(q, r, tables + r * deal->stride, deal->stride);
    if (!*verdict)
        *verdict = elements_judge(q);
    if (!*verdict)
        elements_place(q);
    return 0;
}

/* -------------------------------------------------------------- picking --- */

/* Where the kernel does not let ranks read each other's memory: over a rail,
 * which may map it. */
static int get(dcoll_request_t *q, const dcoll_op_t *op, uint64_t from,
               unsigned char *to, size_t bytes)
{
    const dcoll_team_t *team = q->team;
    unsigned n = team->shape.nranks, k = team->shape.ports;
    if (!q->mem[DCOLL_RECV]) {
        int rc = drail_mem_register(team->rail, q->elements.recv,
                                    elements_extent(q), 0, &q->mem[DCOLL_RECV]);
        if (rc)
            return team_rail_fail(q->team, rc);
    }
    unsigned distance = (op->peer + n - team->rank) % n;
    return transfer_get_from(q, op->peer, (distance - 1) % k, from, to, bytes);
}

int offer_pick(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct drail_platform *p = q->team->platform;
    const struct elements *e = &q->elements;
    const struct offer *offer = &q->dealing.offers[op->peer];
    bool own = op->peer == q->team->rank && q->traffic.labelled;
    if (q->dealing.verdict)
        return 0;
    size_t count = own ? e->send_counts[op->peer] : offer->elements;
    size_t bytes = count * e->element;
    if (!bytes)
        return 0; /* its place may be anywhere */
    unsigned char *to = e->recv + q->dealing.came[op->peer] * e->element;
    uint64_t at = offer->at & ~OFFER_PULL;
    if (own)
        p->copy(p, to, e->send + elements_begin(e, op->peer), bytes);
    else if (offer->at == at)
        p->copy(p, to, address(q, op->src) + at, bytes);
    else
        return q->team->readable ? reach_read(q->team, op->peer, at, to, bytes)
                                 : get(q, op, at, to, bytes);
    return 0;
}
