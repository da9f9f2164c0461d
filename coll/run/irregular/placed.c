/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A receiver opens its windows only if everything that is offered to it fits.
 * If something does not, or the call of a sender is wrong, it closes all
 * windows, and no rank writes to it.
 */
#include <string.h>

#include "coll/build/irregular/offer.h"
#include "coll/run/irregular/offer.h"
#include "coll/run/irregular/placed.h"

/* A table with one entry. */
struct placed_table {
    struct offer_head head;
    struct offer offer;
};

int placed_offer(dcoll_request_t *q, const dcoll_op_t *op)
{
    struct placed_table *table = (struct placed_table *)address(q, op->dst);
    const struct elements *e = &q->elements;
    int error = q->dealing.call_error;
    for (unsigned to = 0; to < q->team->shape.nranks; to++)
        table[to] = (struct placed_table){{error, e->element},
                                          {error ? 0 : e->send_counts[to], 0}};
    return 0;
}

/* Peers may change what they have written at any time: copy it first. */
static int read_offers(dcoll_request_t *q, const struct placed_table *all)
{
    uint64_t *arrived = q->dealing.arrived;
    unsigned me = q->team->rank;
    int rc = q->dealing.call_error;
    for (unsigned from = 0; !rc && from < q->team->shape.nranks; from++) {
        struct placed_table table;
        memcpy(&table, all + from, sizeof table);
        arrived[from] =
            from == me ? q->elements.send_counts[me] : table.offer.elements;
        rc = from == me ? 0 : offer_check_head(q, from, &table.head);
    }
    return rc ? rc : elements_check_arrived(q);
}

static void open_windows(dcoll_request_t *q)
{
    uint64_t *arrived = q->dealing.arrived;
    unsigned n = q->team->shape.nranks;
    for (unsigned i = 0; q->mine && i < n; i++)
        q->mine[i].elements = arrived[i];
    elements_place(q);
    for (unsigned i = 0; q->mine && i < n; i++) {
        q->mine[i].begin = arrived[i];
        if (q->mem[DCOLL_RECV])
            drail_mem_key(q->mem[DCOLL_RECV], &q->mine[i].key);
    }
}

static void close_windows(dcoll_request_t *q)
{
    for (unsigned i = 0; q->mine && i < q->team->shape.nranks; i++)
        q->mine[i].elements = WINDOW_CLOSED;
}

static int expect(dcoll_request_t *q, int error)
{
    q->dealing.start_error = error;
    if (error)
        close_windows(q);
    else
        open_windows(q);
    return 0;
}

int placed_expect(dcoll_request_t *q, const dcoll_op_t *op)
{
    return expect(
        q, read_offers(q, (const struct placed_table *)address(q, op->src)));
}

int placed_expect_counts(dcoll_request_t *q)
{
    const unsigned n = q->team->shape.nranks, me = q->team->rank;
    for (unsigned from = 0; from < n; from++)
        q->dealing.arrived[from] = q->traffic.counts[(size_t)from * n + me];
    return expect(q, elements_check_arrived(q));
}
