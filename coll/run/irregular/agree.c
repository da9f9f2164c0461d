/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "coll/run/irregular/agree.h"
#include "coll/run/irregular/bounds.h"

/* What each rank reports about its call. */
struct report {
    uint64_t sent, received, pair, element;
    int64_t error;
};

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Bounds are rounded up, so that calls with slightly more elements share them.
 */
static uint64_t power_of_two(uint64_t value)
{
    uint64_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

/* Sent in place of a count by a rank whose arguments are wrong. */
#define REFUSED UINT64_MAX

/* Do the counts of all senders fit what the user expects? */
static int check_column(dcoll_team_t *team, const struct elements *e,
                        const uint64_t *column, struct demand *demand)
{
    demand->received = 0;
    for (unsigned i = 0; i < team->shape.nranks; i++) {
        if (column[i] == REFUSED)
            continue;
        if (e->recv_counts && e->recv_counts[i] != column[i])
            return elements_unexpected(team, e, i, column[i]);
        demand->received += column[i];
    }
    if (!e->recv_counts && demand->received > e->room)
        return team_fail(team, DRAIL_EINVAL,
                         "rank %u: recv has room for %zu elements, but there "
                         "are %llu for it",
                         team->rank, e->room,
                         (unsigned long long)demand->received);
    return 0;
}

/* Finds bounds for all ranks; or returns the error of the first rank that has
 * one. */
static int combine(dcoll_team_t *team, const struct report *all, int mine,
                   dcoll_traffic_t *traffic)
{
    for (unsigned r = 0; r < team->shape.nranks; r++) {
        if (all[r].error)
            return mine ? mine
                        : team_fail(team, (int)all[r].error,
                                    "alltoallv: rank %u: %s", r,
                                    drail_strerror((int)all[r].error));
        if (all[r].element != traffic->element)
            return team_fail(team, DRAIL_EINVAL,
                             "alltoallv: elements of rank %u have %zu bytes, "
                             "those of rank %u %llu",
                             team->rank, traffic->element, r,
                             (unsigned long long)all[r].element);
        traffic->max_pair = greater(traffic->max_pair, all[r].pair);
        traffic->max_rank =
            greater(traffic->max_rank, greater(all[r].sent, all[r].received));
    }
    int rc = bounds_possible(team, traffic);
    if (rc)
        return rc;
    traffic->max_pair = power_of_two(traffic->max_pair);
    traffic->max_rank = power_of_two(traffic->max_rank);
    return 0;
}

/* row, column and all: scratch memory. A wrong argument of any rank does not
 * break the team. */
static int report_all(dcoll_team_t *team, const struct elements *e,
                      dcoll_traffic_t *traffic, uint64_t *row, uint64_t *column,
                      struct report *all)
{
    unsigned n = team->shape.nranks;
    struct demand d;
    int mine = elements_check(team, e, traffic->labelled, &d, row);
    for (unsigned i = 0; mine && i < n; i++)
        row[i] = REFUSED;
    int rc = dcoll_alltoall(team, row, column, sizeof *row);
    if (rc)
        return rc;
    if (!mine)
        mine = check_column(team, e, column, &d);
    /* the next call would overwrite its sentence */
    drail_error_t error = team->error;
    const struct report report = {d.sent, d.received, d.pair, traffic->element,
                                  mine};
    rc = dcoll_allgather(team, &report, all, sizeof report);
    if (rc)
        return rc;
    team->error = error;
    return combine(team, all, mine, traffic);
}

int irregular_gather_counts(dcoll_team_t *team, const struct elements *e,
                            uint64_t **counts)
{
    const size_t n = team->shape.nranks;
    uint64_t *all = malloc((n + 1) * n * sizeof *all);
    *counts = all;
    if (!all) /* the others have memory, and wait */
        return ledger_break_if(
            team, team_fail(team, DRAIL_ENOMEM, "no memory for counts"));
    uint64_t *row = all + n * n;
    for (size_t i = 0; i < n; i++)
        row[i] = e->send_counts[i];
    return dcoll_allgather(team, row, all, n * sizeof *row);
}

int irregular_agree(dcoll_team_t *team, const struct elements *e,
                    dcoll_traffic_t *traffic)
{
    unsigned n = team->shape.nranks;
    uint64_t *row = calloc(2 * n, sizeof *row);
    struct report *all = calloc(n, sizeof *all);
    /* without memory this rank cannot answer: the others must not wait */
    int rc = row && all
                 ? report_all(team, e, traffic, row, row + n, all)
                 : ledger_break_if(team, team_fail(team, DRAIL_ENOMEM,
                                                   "no memory for counts"));
    free(row);
    free(all);
    return rc;
}
