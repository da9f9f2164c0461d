/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Within a node the ledgers show which ranks have come. Ranks of several nodes
 * notify each other by dissemination (D. Hensgen, R. Finkel, U. Manber, "Two
 * Algorithms for Barrier Synchronization", 1988).
 */
#include "coll/run/prepare/entry_barrier.h"
#include "coll/run/execute/notifications.h"
#include "coll/run/prepare/rank_wait.h"

#define MS             1000000ull
#define AWAIT_MS       1
#define CHECK_AFTER_NS (50 * MS) /* looks at the others' ledgers */

static const struct standing unknown = {.calls = UINT64_MAX};

struct entry {
    dcoll_request_t *q;
    struct rank_wait wait;
    uint64_t node_checked_ns, checked_ns;
    bool node_came; /* all ranks of my node, as far as they have been checked */
    unsigned next;  /* the rank whose ledger is checked next */
    /* of the ranks checked so far: the one with the fewest calls, and the one
     * that this rank waits for */
    struct standing slowest, awaited;
};

int entry_barrier_connect(dcoll_team_t *team)
{
    unsigned n = team->shape.nranks;
    int rc = 0;
    if (team->shape.nnodes == 1)
        return 0;
    for (unsigned distance = 1; !rc && distance < n; distance *= 2) {
        rc = team_connect(team, (team->rank + distance) % n);
        if (!rc)
            rc = team_connect(team, (team->rank + n - distance) % n);
    }
    return rc;
}

/* Checks one rank; *slowest becomes its standing if it has made fewer calls. */
static int check_rank(struct entry *m, unsigned rank, struct standing *slowest,
                      unsigned awaited)
{
    dcoll_team_t *team = m->q->team;
    struct standing its;
    int rc = rank == team->rank ? 0 : ledger_check(team, rank);
    if (rc || !ledger_standing(team, rank, &its))
        return rc;
    if (its.calls < slowest->calls)
        *slowest = its;
    if (rank == awaited)
        m->awaited = its;
    return 0;
}

/* The ranks of my node: their ledgers can be read at once, also while the rails
 * are busy for long. */
static int check_node(struct entry *m, unsigned awaited, uint64_t now)
{
    const dcoll_team_t *team = m->q->team;
    struct standing slowest = unknown;
    int rc = 0;
    if (now - m->node_checked_ns < CHECK_AFTER_NS)
        return 0;
    for (unsigned i = 0; !rc && i < team->locals; i++)
        rc = check_rank(m, team->first + i, &slowest, awaited);
    m->node_came = slowest.calls >= ledger_calls(team->ledger);
    if (!rc && !m->node_came)
        rank_wait_follow(&m->wait, &slowest);
    m->node_checked_ns = now;
    return rc;
}

/* All ranks have been checked. This rank waits for the slowest one or, if all
 * that it can see have come, for those that the awaited one waits for. */
static void end_check(struct entry *m, uint64_t now)
{
    const dcoll_team_t *team = m->q->team;
    bool all_came = m->slowest.calls >= ledger_calls(team->ledger);
    const struct standing *s = all_came ? &m->awaited : &m->slowest;
    if (m->node_came && s->calls != unknown.calls)
        rank_wait_follow(&m->wait, s);
    m->next = 0;
    m->slowest = m->awaited = unknown;
    m->checked_ns = now;
}

/* Checks the ledgers of all ranks, now and then. A rank that made another call
 * or gave up does not come, nor does a rank that waits for it. */
static int check_ranks(struct entry *m, unsigned awaited)
{
    const dcoll_team_t *team = m->q->team;
    uint64_t now = m->wait.deadline.looked_ns;
    int rc = check_node(m, awaited, now);
    if (rc || now - m->checked_ns < CHECK_AFTER_NS)
        return rc;
    for (; m->next < team->shape.nranks; m->next++) {
        rc = check_rank(m, m->next, &m->slowest, awaited);
        if (rc)
            return rc == DRAIL_EAGAIN ? 0 : rc;
    }
    end_check(m, now);
    return 0;
}

/* Makes progress, and checks ledgers and time; the caller waits for `peer`. */
static int progress_and_check(struct entry *m, unsigned peer)
{
    int rc = rank_wait_progress(&m->wait);
    if (!rc)
        rc = check_ranks(m, peer);
    if (rc || !rank_wait_is_over(&m->wait))
        return rc;
    return team_fail(m->q->team, DRAIL_ETIMEOUT,
                     "rank %u has not come to prepare a call within %d ms",
                     peer, m->q->team->timeout_ms);
}

/* The same, and pauses for a moment. */
static int progress_and_pause(struct entry *m, unsigned peer)
{
    int rc = progress_and_check(m, peer);
    if (!rc)
        rank_wait_pause(&m->wait);
    return rc;
}

static int await_node(struct entry *m)
{
    dcoll_team_t *team = m->q->team;
    int rc = 0;
    for (unsigned r = 0; !rc && r < team->locals; r++) {
        unsigned peer = team->first + r;
        while (!rc && !ledger_caught_up(team, peer))
            rc = progress_and_pause(m, peer);
        if (!rc)
            rc = ledger_check_caught_up(team, peer);
    }
    return rc;
}

static int notify(struct entry *m, unsigned peer)
{
    int rc;
    while ((rc = notifications_send_entered(m->q, peer)) == DRAIL_EAGAIN) {
        rc = progress_and_pause(m, peer);
        if (rc)
            break;
    }
    return rc;
}

/* Takes notifications of the peer, and sleeps until one comes; but checks all
 * ranks now and then. An error: it will not come. */
static int await_peer(struct entry *m, unsigned peer)
{
    int rc = progress_and_check(m, peer);
    if (!rc && m->q->team->entered[peer] != m->q->id + 1)
        rc = notifications_take(m->q->team, peer, AWAIT_MS);
    return rc == DRAIL_EAGAIN || rc == DRAIL_ETIMEOUT ? 0 : rc;
}

static int await_all(struct entry *m)
{
    dcoll_team_t *team = m->q->team;
    unsigned n = team->shape.nranks;
    int rc = 0;
    for (unsigned distance = 1; !rc && distance < n; distance *= 2) {
        unsigned from = (team->rank + n - distance) % n;
        rc = notify(m, (team->rank + distance) % n);
        while (!rc && team->entered[from] != m->q->id + 1)
            rc = await_peer(m, from);
    }
    return rc;
}

int entry_barrier(dcoll_request_t *q)
{
    dcoll_team_t *team = q->team;
    struct entry m = {.q = q, .slowest = unknown, .awaited = unknown};
    rank_wait_begin(&m.wait, team);
    m.node_checked_ns = m.checked_ns = m.wait.deadline.looked_ns;
    int rc = await_node(&m);
    if (!rc && team->shape.nnodes > 1)
        rc = await_all(&m);
    return rc;
}
