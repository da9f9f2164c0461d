/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts of irregular collectives: their counts within the bounds, and what
 * peers are told of them. */
#include "coll/run/bounds.h"
#include "coll/run/buffers.h"

int bounds_check(dcoll_team_t *team, const struct elements *e,
                 const dcoll_traffic_t *t)
{
    struct demand d;
    int rc = elements_check(team, e, t->labelled, &d, NULL);
    if (rc)
        return rc;
    for (unsigned i = 0; t->labelled && i < team->shape.nranks; i++)
        if (e->send_counts[i] > t->max_pair)
            return team_fail(team, DRAIL_EINVAL,
                             "rank %u: send_counts[%u] is %zu: the bound "
                             "max_pair is %llu",
                             team->rank, i, e->send_counts[i],
                             (unsigned long long)t->max_pair);
    if (d.pair > t->max_pair)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %llu elements from or for one rank: the "
                         "bound max_pair is %llu",
                         team->rank, (unsigned long long)d.pair,
                         (unsigned long long)t->max_pair);
    if (d.sent > t->max_rank || d.received > t->max_rank)
        return team_fail(
            team, DRAIL_EINVAL,
            "rank %u: %llu elements to %s: the bound max_rank is "
            "%llu",
            team->rank,
            (unsigned long long)(d.sent > d.received ? d.sent : d.received),
            d.sent > t->max_rank ? "send" : "receive",
            (unsigned long long)t->max_rank);
    return 0;
}

/* Peers may reach other parts of SEND and RECV than at the start before. */
int bounds_renew(dcoll_request_t *q)
{
    int rc = bounds_check(q->team, &q->elements, &q->traffic);
    if (rc || (!q->schedule.shared && !q->algorithm->placed))
        return rc;
    rc = request_unbind(q);
    if (!rc)
        rc = request_bind(q, q->elements.send, q->elements.recv);
    return ledger_settle(q->team, rc);
}

void bounds_start(dcoll_request_t *q)
{
    const struct elements *e = &q->elements;
    uint64_t *came = q->dealing.came;
    unsigned n = q->team->shape.nranks;
    if (!q->algorithm->placed)
        return;
    for (unsigned i = 0; i < n; i++) {
        came[i] = e->recv_counts ? e->recv_counts[i] : came[i];
        if (q->mine)
            q->mine[i].elements = came[i];
    }
    elements_place(q);
    for (unsigned i = 0; q->mine && i < n; i++) {
        q->mine[i].begin = came[i];
        if (q->mem[DCOLL_RECV])
            drail_mem_key(q->mem[DCOLL_RECV], &q->mine[i].key);
    }
}
