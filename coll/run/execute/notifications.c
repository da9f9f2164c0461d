/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/execute/notifications.h"

uint32_t notification_id(const dcoll_request_t *q, dcoll_tag_t tag)
{
    return q->id * NOTIFICATION_KINDS + tag;
}

int notifications_send_entered(dcoll_request_t *q, unsigned peer)
{
    drail_t *rail = q->team->rail;
    int rc = drail_put(rail, team_peer(q->team, peer), &(drail_xfer_t){0},
                       DRAIL_NOTIFY | DRAIL_NOWAIT,
                       notification_id(q, (dcoll_tag_t)NOTE_ENTERED), NULL);
    return rc && rc != DRAIL_EAGAIN ? team_rail_fail(q->team, rc) : rc;
}

void notifications_deliver(dcoll_team_t *team, unsigned peer, uint32_t id)
{
    dcoll_request_t *q;
    struct partner *partner;
    uint32_t of = id / NOTIFICATION_KINDS, tag = id % NOTIFICATION_KINDS;
    if (tag == NOTE_ENTERED) {
        /* at most one is pending: the next barrier begins after this one */
        team->entered[peer] = of + 1;
        return;
    }
    if (tag > NOTE_ENTERED) {
        shrunk_note(team->shrunk, peer, id);
        return;
    }
    /* no such request: a late credit for a request that is freed, or for one of
     * a freed team */
    LIST_FOREACH(q, &team->by_id[of % REQUEST_BUCKETS], same_bucket)
    if (q->id == of && (partner = partner_of(&q->partners, peer)))
        partner->due[tag]++;
}

int notifications_take(dcoll_team_t *team, unsigned peer, int timeout_ms)
{
    uint32_t id;
    int rc =
        drail_notify_wait(team->rail, team_peer(team, peer), &id, timeout_ms);
    if (!rc)
        notifications_deliver(team, peer, id);
    else if (rc != DRAIL_EAGAIN && rc != DRAIL_ETIMEOUT)
        rc = team_rail_fail(team, rc);
    return rc;
}

int notifications_await(dcoll_request_t *q, const dcoll_op_t *op)
{
    int32_t *due = &partner_of(&q->partners, op->peer)->due[op->tag];
    while (*due <= 0) {
        int rc = notifications_take(q->team, op->peer, 0);
        if (rc)
            return rc;
    }
    --*due;
    return 0;
}

/* Takes all notifications that have come from a peer; makes no progress. */
static int take_all(dcoll_team_t *team, unsigned peer)
{
    uint32_t id;
    int rc;
    while (!(rc = drail_notify_test(team->rail, team_peer(team, peer), &id)))
        notifications_deliver(team, peer, id);
    return rc == DRAIL_EAGAIN ? 0 : team_rail_fail(team, rc);
}

int team_progress(dcoll_team_t *team)
{
    /* errors of rails and peers are ignored here: the operation that waits in
     * vain reports them */
    drail_progress(team->rail);
    for (unsigned peer = 0; !drail_notify_any(team->rail, peer, &peer);
         peer++) {
        unsigned rank = team->shrunk ? shrunk_rank(team->shrunk, peer) : peer;
        if (rank < team->shape.nranks && team->connected[rank])
            take_all(team, rank);
    }
    if (team->cfg.idle)
        team->cfg.idle(team->cfg.idle_context);
    return drail_job_interrupted(team_whole_job(team))
               ? team_fail(team, DRAIL_EINTR, "interrupted")
               : 0;
}

int notifications_take_credits(dcoll_request_t *q)
{
    int rc = 0;
    drail_progress(q->team->rail);
    for (unsigned i = 0; !rc && i < q->ncreditors; i++)
        rc = take_all(q->team, q->creditors[i]);
    return rc;
}
