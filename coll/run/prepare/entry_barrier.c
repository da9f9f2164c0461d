/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ranks prepare they exchange over the job, and there nobody takes
 * notifications: who waits for credit would do so in vain. Here they take them
 * until all have come, and then nobody has anything left to send. Within a node
 * the ledgers show who has come; ranks of several nodes tell each other by
 * dissemination (D. Hensgen, R. Finkel, U. Manber, "Two Algorithms for Barrier
 * Synchronization", 1988).
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

struct meeting {
    dcoll_request_t *q;
    struct deadline deadline;
    uint64_t checked_ns;
    unsigned next;  /* rank that is looked at next */
    uint64_t least; /* calls of those that have been */
    struct spin spin;
};

/* The other end of each connection does the same. */
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

static void all_of_its_time(struct meeting *m, uint64_t now)
{
    uint64_t timeout = (uint64_t)m->q->team->timeout_ms * MS;
    m->deadline = deadline_after(now, timeout);
}

/* All have been looked at. Who was far behind and gets on will come. */
static void look_ends(struct meeting *m, uint64_t now)
{
    struct ledger *mine = m->q->team->ledger;
    if (m->least > ledger_reached(mine))
        all_of_its_time(m, now);
    ledger_set_reached(mine, m->least);
    m->next = 0;
    m->least = UINT64_MAX;
    m->checked_ns = now;
}

/* Who differs or has given up does not come, nor does who waits for him. */
static int look_around(struct meeting *m, uint64_t now)
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
    look_ends(m, now);
    return 0;
}

/* Between two looks whether the peer has come; the wait is the caller's. */
static int look_on(struct meeting *m, unsigned peer)
{
    dcoll_team_t *team = m->q->team;
    uint64_t now = platform_now(team->platform);
    deadline_turn(&m->deadline, now);
    uint64_t left = deadline_left(&m->deadline);
    int rc = team_progress(team);
    if (!rc)
        rc = team_advance_requests(team);
    if (!rc)
        rc = look_around(m, now);
    if (rc)
        return rc;
    if (!left)
        return team_fail(team, DRAIL_ETIMEOUT,
                         "rank %u has not come to prepare a call within %d ms",
                         peer, team->timeout_ms);
    return 0;
}

/* The same, and waits a moment. */
static int linger(struct meeting *m, unsigned peer)
{
    const dcoll_team_t *team = m->q->team;
    uint64_t timeout = (uint64_t)team->timeout_ms * MS;
    int rc = look_on(m, peer);
    if (!rc && !spin_more(&m->spin))
        platform_sleep(team->platform,
                       spin_slice_ns(timeout - deadline_left(&m->deadline),
                                     NAP_LEAST_NS, NAP_MOST_NS));
    return rc;
}

static int meet_node(struct meeting *m)
{
    dcoll_team_t *team = m->q->team;
    int rc = 0;
    for (unsigned r = 0; !rc && r < team->locals; r++) {
        unsigned peer = team->first + r;
        while (!rc && !ledger_caught_up(team, peer))
            rc = linger(m, peer);
        if (!rc)
            rc = ledger_check_caught_up(team, peer);
    }
    return rc;
}

static int tell(struct meeting *m, unsigned peer)
{
    int rc;
    while ((rc = notifications_send_entered(m->q, peer)) == DRAIL_EAGAIN) {
        rc = linger(m, peer);
        if (rc)
            break;
    }
    return rc;
}

/* Takes what comes from him; an error when he has died, and nothing will.
 * Sleeps until then, but for looks at the others now and then. */
static int await(struct meeting *m, unsigned peer)
{
    int rc = look_on(m, peer);
    if (!rc && m->q->team->entered[peer] != m->q->id + 1)
        rc = notifications_take(m->q->team, peer, AWAIT_MS);
    return rc == DRAIL_EAGAIN || rc == DRAIL_ETIMEOUT ? 0 : rc;
}

static int meet_all(struct meeting *m)
{
    dcoll_team_t *team = m->q->team;
    unsigned n = team->shape.nranks;
    int rc = 0;
    for (unsigned distance = 1; !rc && distance < n; distance *= 2) {
        unsigned from = (team->rank + n - distance) % n;
        rc = tell(m, (team->rank + distance) % n);
        while (!rc && team->entered[from] != m->q->id + 1)
            rc = await(m, from);
    }
    return rc;
}

int entry_barrier(dcoll_request_t *q)
{
    dcoll_team_t *team = q->team;
    uint64_t now = platform_now(team->platform);
    struct meeting m = {.q = q, .checked_ns = now, .least = UINT64_MAX};
    all_of_its_time(&m, now);
    spin_init(&m.spin, team->platform, team->oversubscribed ? 0 : SPIN_YIELD_NS,
              SPIN_NS);
    spin_begin(&m.spin);
    int rc = meet_node(&m);
    if (!rc && team->shape.nnodes > 1)
        rc = meet_all(&m);
    return rc;
}
