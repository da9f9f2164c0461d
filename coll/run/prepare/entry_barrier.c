/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Within a node the ledgers show which ranks have come. Ranks of several nodes
 * notify each other by dissemination (D. Hensgen, R. Finkel, U. Manber, "Two
 * Algorithms for Barrier Synchronization", 1988).
 */
#include "coll/run/prepare/entry_barrier.h"
#include "coll/run/execute/notifications.h"
#include "coll/run/execute/wait.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/platform/spin.h"

#define MS             1000000ull
#define SPIN_NS        (2 * MS)
#define NAP_LEAST_NS   50000u
#define NAP_MOST_NS    MS
#define AWAIT_MS       1
#define CHECK_AFTER_NS (50 * MS) /* looks at the others' ledgers */

struct entry {
    dcoll_request_t *q;
    struct deadline deadline;
    uint64_t checked_ns;
    unsigned next;  /* the rank whose ledger is checked next */
    uint64_t least; /* fewest calls of the ranks checked so far */
    struct spin spin;
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

static void restart_timeout(struct entry *m, uint64_t now)
{
    uint64_t timeout = (uint64_t)m->q->team->timeout_ms * MS;
    m->deadline = deadline_after(now, timeout);
}

/* All ranks have been checked. If the slowest one has made a call since, it
 * will come: restart the timeout. */
static void end_check(struct entry *m, uint64_t now)
{
    struct ledger *mine = m->q->team->ledger;
    if (m->least > ledger_reached(mine))
        restart_timeout(m, now);
    ledger_set_reached(mine, m->least);
    m->next = 0;
    m->least = UINT64_MAX;
    m->checked_ns = now;
}

/* Checks the ledgers of all ranks, now and then. A rank that made another call
 * or gave up does not come, nor does a rank that waits for it. */
static int check_ranks(struct entry *m, uint64_t now)
{
    dcoll_team_t *team = m->q->team;
    if (now - m->checked_ns < CHECK_AFTER_NS)
        return 0;
    for (; m->next < team->shape.nranks; m->next++) {
        int rc = m->next == team->rank ? 0 : ledger_check(team, m->next);
        if (rc)
            return rc == DRAIL_EAGAIN ? 0 : rc;
        uint64_t calls = ledger_common_calls(team, m->next);
        if (calls < m->least)
            m->least = calls;
    }
    end_check(m, now);
    return 0;
}

/* Makes progress, and checks ledgers and time; the caller waits for `peer`. */
static int progress_and_check(struct entry *m, unsigned peer)
{
    dcoll_team_t *team = m->q->team;
    uint64_t now = platform_now(team->platform);
    deadline_turn(&m->deadline, now);
    uint64_t left = deadline_left(&m->deadline);
    int rc = team_progress(team);
    if (!rc)
        rc = team_advance_requests(team);
    if (!rc)
        rc = check_ranks(m, now);
    if (rc)
        return rc;
    if (!left)
        return team_fail(team, DRAIL_ETIMEOUT,
                         "rank %u has not come to prepare a call within %d ms",
                         peer, team->timeout_ms);
    return 0;
}

/* The same, and pauses for a moment. */
static int progress_and_pause(struct entry *m, unsigned peer)
{
    const dcoll_team_t *team = m->q->team;
    uint64_t timeout = (uint64_t)team->timeout_ms * MS;
    int rc = progress_and_check(m, peer);
    if (!rc && !spin_more(&m->spin))
        platform_sleep(team->platform,
                       spin_slice_ns(timeout - deadline_left(&m->deadline),
                                     NAP_LEAST_NS, NAP_MOST_NS));
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
    uint64_t now = platform_now(team->platform);
    struct entry m = {.q = q, .checked_ns = now, .least = UINT64_MAX};
    restart_timeout(&m, now);
    spin_init(&m.spin, team->platform, team->oversubscribed ? 0 : SPIN_YIELD_NS,
              SPIN_NS);
    spin_begin(&m.spin);
    int rc = await_node(&m);
    if (!rc && team->shape.nnodes > 1)
        rc = await_all(&m);
    return rc;
}
