/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nobody writes before the receiver has found that all that is to come fits to
 * what it expects. If it does not, or one rank's call is wrong, nobody does.
 */
#include <string.h>

#include "coll/build/offer.h"
#include "coll/run/irregular/offer.h"
#include "coll/run/irregular/placed.h"

/* A table of one entry. */
struct said {
    struct offer_head head;
    struct offer offer;
};

int placed_offer(dcoll_request_t *q, const dcoll_op_t *op)
{
    struct said *said = (struct said *)address(q, op->dst);
    const struct elements *e = &q->elements;
    int error = q->dealing.call_error;
    for (unsigned to = 0; to < q->team->shape.nranks; to++)
        said[to] = (struct said){{error, e->element},
                                 {error ? 0 : e->send_counts[to], 0}};
    return 0;
}

/* What arrived is what a peer has written: it is looked at once. */
static int hear(dcoll_request_t *q, const struct said *all)
{
    uint64_t *arrived = q->dealing.arrived;
    unsigned me = q->team->rank;
    int rc = q->dealing.call_error;
    for (unsigned from = 0; !rc && from < q->team->shape.nranks; from++) {
        struct said said;
        memcpy(&said, all + from, sizeof said);
        arrived[from] =
            from == me ? q->elements.send_counts[me] : said.offer.elements;
        rc = from == me ? 0 : offer_check_head(q, from, &said.head);
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

int placed_expect(dcoll_request_t *q, const dcoll_op_t *op)
{
    q->dealing.start_error = hear(q, (const struct said *)address(q, op->src));
    if (q->dealing.start_error)
        close_windows(q);
    else
        open_windows(q);
    return 0;
}
