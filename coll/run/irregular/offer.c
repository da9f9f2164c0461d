/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "coll/build/irregular/offer.h"
#include "coll/run/irregular/offer.h"
#include "coll/run/irregular/bundle_reader.h"
#include "coll/run/node/cma.h"
#include "coll/run/execute/transfers.h"

static struct offer *entries(unsigned char *table)
{
    return (struct offer *)(table + sizeof(struct offer_head));
}

static bool on_my_node(const dcoll_team_t *team, unsigned rank)
{
    return rank - team->first < team->locals;
}

/* ------------------------------------------------------------ offering --- */

/* Parts of at least so many bytes are read from SEND. */
static size_t least_pulled(const dcoll_request_t *q, bool mapped)
{
    const struct elements *e = &q->elements;
    unsigned first = q->team->first, me = q->team->rank;
    size_t largest = 0;
    for (unsigned to = first; to < first + q->team->locals; to++)
        if (to != me && e->send_counts[to] > largest)
            largest = e->send_counts[to];
    return offer_least_pulled(q->traffic.pulled, mapped, largest * e->element);
}

static size_t begin_of(const struct elements *e, unsigned to, size_t next)
{
    return e->send_displs ? e->send_displs[to] * e->element : next;
}

/* Called for the part of each rank: it begins at `at` in SEND; `used` bytes of
 * the table are taken by earlier parts. */
typedef void see_part(dcoll_request_t *q, unsigned to, size_t at, size_t bytes,
                      bool pulled, size_t used, void *arg);

static void each_part(dcoll_request_t *q, size_t room, bool mapped,
                      see_part *see, void *arg)
{
    const struct elements *e = &q->elements;
    unsigned n = q->team->shape.nranks, me = q->team->rank;
    size_t next = 0, used = offer_table(n);
    size_t least = least_pulled(q, mapped);
    for (unsigned to = 0; to < n; to++) {
        size_t at = begin_of(e, to, next);
        size_t bytes = e->send_counts[to] * e->element;
        next = at + bytes;
        if (to == me)
            continue;
        bool pulled = bytes && on_my_node(q->team, to) &&
                      (bytes >= least || bytes > room - used);
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

size_t offer_extent(const dcoll_request_t *q, bool mapped)
{
    size_t end = 0;
    const dcoll_op_t *op = offering(q);
    if (op && q->traffic.labelled && !q->dealing.call_error)
        each_part((dcoll_request_t *)q, op->bytes, mapped, see_end, &end);
    return end;
}

static void write_part(dcoll_request_t *q, unsigned to, size_t at, size_t bytes,
                       bool pulled, size_t used, void *arg)
{
    unsigned char *table = arg;
    const unsigned char *send = q->elements.send;
    uint64_t flags = OFFER_PULL | (q->mem[DCOLL_SEND] ? OFFER_KEYED : 0);
    entries(table)[to] =
        (struct offer){q->elements.send_counts[to],
                       pulled ? flags | ((uintptr_t)send + at) : used};
    q->dealing.pulled[to] = pulled;
    if (!pulled && bytes)
        platform_copy(q->team->platform, table + used, send + at, bytes);
}

/* Elements with destinations: all go to NODE, sorted by destination. */
static void write_unlabelled(dcoll_request_t *q, unsigned char *table)
{
    const struct elements *e = &q->elements;
    struct offer *entry = entries(table);
    unsigned n = q->team->shape.nranks;
    size_t count = elements_count(e), at = offer_table(n);
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
        (struct offer_head){q->dealing.call_error, q->elements.element};
    memset(q->dealing.pulled, 0,
           q->team->shape.nranks * sizeof *q->dealing.pulled);
    if (q->dealing.call_error)
        return 0;
    if (q->traffic.labelled)
        each_part(q, op->bytes, q->dealing.mapped, write_part, table);
    else
        write_unlabelled(q, table);
    return 0;
}

/* ----------------------------------------------------------- expecting --- */

/* The errors that a check of a call can give: a faulty peer may write any. */
static int error_of(const struct offer_head *head)
{
    return head->error == DRAIL_ENOMEM ? DRAIL_ENOMEM : DRAIL_EINVAL;
}

int offer_check_head(const dcoll_request_t *q, unsigned from,
                     const struct offer_head *head)
{
    if (head->error)
        return team_fail(q->team, error_of(head), "alltoallv: rank %u: %s",
                         from, drail_strerror(error_of(head)));
    if (head->element != q->elements.element)
        return team_fail(q->team, DRAIL_EINVAL,
                         "alltoallv: elements of rank %u have %zu bytes, "
                         "those of rank %u %llu",
                         q->team->rank, q->elements.element, from,
                         (unsigned long long)head->element);
    return 0;
}

bool offer_is_within(const dcoll_request_t *q, unsigned other,
                     const struct offer *offer, size_t room)
{
    size_t element = q->elements.element;
    if (offer->elements > PTRDIFF_MAX / element)
        return false;
    if (offer->at & OFFER_PULL) /* the transport checks the place */
        return on_my_node(q->team, other);
    return offer->at <= room && offer->elements * element <= room - offer->at;
}

/* Reads the offer of rank `from` to this rank: a head and an entry of its table
 * or bundle of `room` bytes. The writer may change them at any time, so they
 * are copied before they are checked. */
static int expect_from(dcoll_request_t *q, unsigned from,
                       const unsigned char *head, const unsigned char *entry,
                       size_t room)
{
    struct offer *offer = &q->dealing.offers[from];
    struct offer_head read;
    memcpy(&read, head, sizeof read);
    int rc = offer_check_head(q, from, &read);
    if (rc)
        return rc;
    memcpy(offer, entry, sizeof *offer);
    q->dealing.arrived[from] = offer->elements;
    return offer_is_within(q, from, offer, room)
               ? 0
               : team_fail(q->team, DRAIL_EINVAL,
                           "alltoallv: rank %u offers rank %u %llu elements, "
                           "which are not in its table",
                           from, q->team->rank,
                           (unsigned long long)offer->elements);
}

/* With counts, a rank does not offer its own part. */
static int expect_own(dcoll_request_t *q, const unsigned char *table,
                      size_t room)
{
    unsigned me = q->team->rank;
    if (!q->traffic.labelled)
        return expect_from(q, me, table, table + offer_table(me), room);
    q->dealing.arrived[me] = q->elements.send_counts[me];
    return 0;
}

static int expect_node(dcoll_request_t *q, const dcoll_op_t *op)
{
    const dcoll_deal_t *deal = &q->schedule.deals[op->deal];
    const unsigned char *table = address(q, op->src);
    unsigned first = q->team->first, me = q->team->rank;
    int rc = q->dealing.call_error;
    for (unsigned i = 0; !rc && i < deal->fan; i++, table += deal->stride)
        rc = first + i == me
                 ? expect_own(q, table, deal->stride)
                 : expect_from(q, first + i, table, table + offer_table(me),
                               deal->stride);
    return rc ? rc : elements_check_arrived(q);
}

static int expect_bundle(dcoll_request_t *q, const dcoll_op_t *op)
{
    const dcoll_team_t *team = q->team;
    const dcoll_shape_t *shape = &team->shape;
    unsigned senders = dcoll_shape_locals(shape, op->peer);
    unsigned first = shape->node_begin[dcoll_shape_node(shape, op->peer)];
    unsigned me = team->rank - team->first;
    const unsigned char *bundle = address(q, op->src);
    size_t bytes = bundle_length(bundle, op->bytes);
    int rc = 0;
    if (bytes < offer_section(senders, team->locals))
        return team_fail(q->team, DRAIL_EINVAL,
                         "%s: a malformed bundle was received from the node of "
                         "rank %u",
                         q->algorithm->name, first);
    for (unsigned i = 0; !rc && i < senders; i++)
        rc = expect_from(q, first + i, bundle + offer_section(i, team->locals),
                         bundle + offer_entry(i, team->locals, me), bytes);
    return rc;
}

/* The own node is the last one. */
int offer_expect(dcoll_request_t *q, const dcoll_op_t *op)
{
    int *error = &q->dealing.start_error;
    bool last = on_my_node(q->team, op->peer);
    if (!*error)
        *error = last ? expect_node(q, op) : expect_bundle(q, op);
    if (!*error && last)
        elements_place(q);
    return 0;
}

/* -------------------------------------------------------------- picking --- */

/* Get it over a rail? Else the kernel copies it. */
static bool may_get(const dcoll_request_t *q, const struct offer *offer)
{
    return !q->team->readable ||
           (offer->at & OFFER_KEYED && q->mem[DCOLL_RECV]);
}

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
    if (q->dealing.start_error)
        return 0;
    size_t count = own ? e->send_counts[op->peer] : offer->elements;
    size_t bytes = count * e->element;
    if (!bytes)
        return 0; /* its place may be anywhere */
    unsigned char *to = e->recv + q->dealing.arrived[op->peer] * e->element;
    uint64_t at = offer->at & ~OFFER_FLAGS;
    if (own)
        p->copy(p, to, e->send + elements_begin(e, op->peer), bytes);
    else if (offer->at == at)
        p->copy(p, to, address(q, op->src) + at, bytes);
    else
        return may_get(q, offer) ? get(q, op, at, to, bytes)
                                 : cma_read(q->team, op->peer, at, to, bytes);
    return 0;
}
