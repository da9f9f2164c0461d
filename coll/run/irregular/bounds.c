/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/irregular/bounds.h"
#include "coll/run/prepare/buffers.h"

/* The bound times all ranks, and twice that, must not overflow. */
static int check_bound(dcoll_team_t *team, const char *name, uint64_t bound,
                       size_t element)
{
    uint64_t most = PTRDIFF_MAX / 4 / team->shape.nranks / element;
    return bound <= most
               ? 0
               : team_fail(team, DRAIL_EINVAL,
                           "rank %u: the bound %s is %llu: allowed "
                           "are 1…%llu elements of %zu bytes",
                           team->rank, name, (unsigned long long)bound,
                           (unsigned long long)most, element);
}

int bounds_possible(dcoll_team_t *team, const dcoll_traffic_t *t)
{
    int rc = check_bound(team, "max_rank", t->max_rank, t->element);
    return rc ? rc : check_bound(team, "max_pair", t->max_pair, t->element);
}

static int check_pairs(dcoll_team_t *team, const char *name,
                       const size_t *counts, uint64_t max_pair)
{
    for (unsigned i = 0; i < team->shape.nranks; i++)
        if (counts[i] > max_pair)
            return team_fail(team, DRAIL_EINVAL,
                             "rank %u: %s[%u] is %zu: the bound max_pair is "
                             "%llu",
                             team->rank, name, i, counts[i],
                             (unsigned long long)max_pair);
    return 0;
}

static int check_counts(dcoll_team_t *team, const struct elements *e,
                        const dcoll_traffic_t *t)
{
    unsigned me = team->rank;
    int rc = check_pairs(team, "send_counts", e->send_counts, t->max_pair);
    if (rc || !e->recv_counts)
        return rc;
    rc = check_pairs(team, "recv_counts", e->recv_counts, t->max_pair);
    if (!rc && e->recv_counts[me] != e->send_counts[me])
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: recv_counts[%u] is %zu, but send_counts[%u] "
                         "is %zu",
                         me, me, e->recv_counts[me], me, e->send_counts[me]);
    return rc;
}

int bounds_check(dcoll_team_t *team, const struct elements *e,
                 const dcoll_traffic_t *t)
{
    struct demand d;
    int rc = elements_check(team, e, t->labelled, &d, NULL);
    if (rc == DRAIL_ENOMEM) /* the others have memory, and wait */
        return ledger_break_if(team, rc);
    if (!rc && t->labelled)
        rc = check_counts(team, e, t);
    if (rc)
        return rc;
    if (d.pair > t->max_pair)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: %llu elements for rank %u: the bound "
                         "max_pair is %llu",
                         team->rank, (unsigned long long)d.pair, d.pair_to,
                         (unsigned long long)t->max_pair);
    if (d.sent > t->max_rank || d.received > t->max_rank)
        return team_fail(
            team, DRAIL_EINVAL,
            "rank %u: %llu elements to %s: the bound max_rank is "
            "%llu",
            team->rank,
            (unsigned long long)(d.sent > d.received ? d.sent : d.received),
            d.sent > d.received ? "send" : "receive",
            (unsigned long long)t->max_rank);
    return 0;
}

/* Each start may use other parts of SEND and RECV; only those that peers access
 * are registered. */
int bounds_renew(dcoll_request_t *q)
{
    int rc = bounds_check(q->team, &q->elements, &q->traffic);
    if (rc)
        return rc;
    rc = request_unbind(q);
    if (!rc)
        rc = request_bind(q, q->elements.send, q->elements.recv);
    return ledger_break_if(q->team, rc);
}
