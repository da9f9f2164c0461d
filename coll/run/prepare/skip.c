/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A barrier by dissemination, as the entry barrier, but by looks at ledgers: so
 * a rank that must not wait can look now and then. In each round a rank looks
 * at the ledger of one rank, to which it is connected.
 */
#include "coll/run/prepare/rank_wait.h"
#include "coll/run/prepare/skip.h"

#define ROUNDS 64u /* more than a barrier has */

/* A number that grows with each skip and each round. */
static uint64_t position(const struct skips *s)
{
    return s->shared * ROUNDS + (s->made > s->shared ? 1 + s->rounds : 0);
}

static void publish(dcoll_team_t *team)
{
    const struct skips *s = &team->skips;
    atomic_store_explicit(&team->ledger->skips, position(s),
                          memory_order_release);
}

void dcoll_team_skip(dcoll_team_t *team)
{
    const struct call skipped = {.what = CALL_SKIPPED};
    ledger_append(team->ledger, &skipped);
    team->skips.made++;
    publish(team);
}

/* The rank that this one looks at in the present round. This rank itself: the
 * barrier is complete. */
static unsigned awaited(const dcoll_team_t *team)
{
    unsigned n = team->shape.nranks;
    unsigned distance = 1u << team->skips.rounds;
    return distance < n ? (team->rank + n - distance) % n : team->rank;
}

static void end_round(dcoll_team_t *team, bool last)
{
    struct skips *s = &team->skips;
    s->seen = false;
    s->rounds = last ? 0 : s->rounds + 1;
    s->shared += last;
    publish(team);
}

/* The peer's calls are compared once more after it has been seen in this round:
 * a ledger is not read at one moment. */
static int look_at(dcoll_team_t *team, unsigned peer)
{
    struct skips *s = &team->skips;
    struct standing its;
    bool seen = s->seen;
    int rc = ledger_check(team, peer);
    if (!rc && ledger_standing(team, peer, &its))
        s->seen = its.skips >= position(s);
    return rc || seen ? rc : DRAIL_EAGAIN;
}

int skips_try_settle(dcoll_team_t *team)
{
    const struct skips *s = &team->skips;
    int rc = 0;
    while (!rc && s->made > s->shared) {
        unsigned peer = awaited(team);
        bool last = peer == team->rank;
        rc = last ? 0 : look_at(team, peer);
        if (!rc)
            end_round(team, last);
    }
    return rc;
}

static int fail_timeout(dcoll_team_t *team)
{
    return team_fail(team, DRAIL_ETIMEOUT,
                     "rank %u has not skipped, within %d ms, a call that rank "
                     "%u has skipped",
                     awaited(team), team->timeout_ms, team->rank);
}

int skips_await(dcoll_team_t *team)
{
    struct rank_wait wait;
    struct standing its;
    int rc;
    rank_wait_begin(&wait, team);
    while ((rc = skips_try_settle(team)) == DRAIL_EAGAIN) {
        rc = rank_wait_progress(&wait);
        if (rc)
            return rc;
        if (ledger_standing(team, awaited(team), &its))
            rank_wait_follow(&wait, &its);
        if (rank_wait_is_over(&wait))
            return fail_timeout(team);
        rank_wait_pause(&wait);
    }
    return rc;
}
