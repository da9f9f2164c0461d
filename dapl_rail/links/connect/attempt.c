/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/connect/attempt.h"

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/connect/reach.h"
#include "dapl_rail/links/connect/requests.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/route.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/stripe/tuning/tuners.h"

#define AGAIN_MS   50u /* before another attempt; doubled before the next */
#define AGAIN_MOST 3u

void attempt_want(struct peer *peer)
{
    peer->attempt.wanted = true;
    peer->owner->meeting = true;
}

static bool has_links(const struct peer *peer)
{
    unsigned at = 0;
    return peer_next(peer, UINT32_MAX, &at) != NULL;
}

/* Has the active side asked for links? */
static bool has_begun(const struct peer *peer)
{
    const struct link *link;
    if (peer->owner->job->rank < peer->rank)
        return has_links(peer);
    for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
        if (link->established || link->ep.state != EP_NONE)
            return true;
    return false;
}

/* An EP has been freed. The next EP may get its handle, so the events of the
 * freed one are taken now. */
static void take_events(drail_t *t)
{
    for (unsigned r = 0; r < t->nrails; r++)
        rail_check(&t->rails[r]);
}

/* Passive side: if all that the peer has asked for has failed, frees the links.
 * Its next request makes new ones. */
static void forget_failed(struct peer *peer)
{
    if (has_links(peer) && !has_begun(peer) && !atomic_load(&peer->error))
        peer_free(peer);
}

static int begin(struct peer *peer)
{
    drail_t *t = peer->owner;
    if (peer->solicit.gives_up) { /* it tries again */
        solicit_end(peer);
        take_events(t);
    }
    if (t->job->rank < peer->rank)
        return job_now(t->job) < peer->attempt.not_before_ns
                   ? 0
                   : connect_ask(peer);
    if (solicit_expire(peer))
        take_events(t);
    return solicit(peer);
}

/* If two ranks of one host do not reach each other by rails that stay inside
 * it, an attempt over the other rails begins. */
static bool try_outside(struct peer *peer)
{
    if (!peer->attempt.absent || !peer->outside || peer->rails == peer->outside)
        return false;
    peer_free(peer);
    peer_take(peer, peer->outside);
    attempt_want(peer);
    return true;
}

/* A provider reports that nobody listens also if the peer, or this rank, has
 * not served it for too long. So another attempt begins, some times. */
static bool try_again(struct peer *peer)
{
    drail_job_t *job = peer->owner->job;
    if (job->rank > peer->rank || !peer->attempt.absent ||
        sentence_is(peer->refused) || peer->attempt.in_vain == AGAIN_MOST ||
        job_has_ended(job, peer->rank))
        return false;
    peer_free(peer);
    peer->attempt.not_before_ns =
        job_now(job) + (AGAIN_MS << peer->attempt.in_vain++) * MS;
    attempt_want(peer);
    return true;
}

static void stop_soliciting(struct peer *peer)
{
    if (!peer->solicit.due_ns)
        return;
    solicit_end(peer);
    take_events(peer->owner);
}

/* The peer is connected. */
static void settle(struct peer *peer)
{
    drail_t *t = peer->owner;
    peer->connected = true;
    peer->attempt.wanted = false;
    peer->attempt.in_vain = 0;
    t->unconnected--;
    stop_soliciting(peer);
    if (t->reach_changed && reach_measured(t)) {
        tuners_begin(t);
        route_settle(t);
    }
}

int attempt_step(struct peer *peer)
{
    drail_t *t = peer->owner;
    requests_resume(peer);
    forget_failed(peer);
    int rc = peer->attempt.wanted && !has_begun(peer) ? begin(peer) : 0;
    if (rc)
        return rc;
    bool ending = connect_drop_stale(t, peer);
    connect_leave_out(peer);
    if (connect_done(peer)) {
        settle(peer);
        return 0;
    }
    rc = ending ? 0 : connect_error(peer);
    return rc && !try_outside(peer) && !try_again(peer) ? rc : DRAIL_EAGAIN;
}

void attempt_give_up(struct peer *peer)
{
    peer->attempt.wanted = false;
    peer->attempt.in_vain = 0;
    peer_take(peer, peer->inside);
    stop_soliciting(peer);
    requests_end(peer);
}

void attempts_serve(drail_t *t)
{
    requests_take(t);
    if (!t->meeting || t->closing)
        return;
    t->meeting = false;
    struct peer **at = &t->sought, *peer;
    while ((peer = *at)) {
        if (peer->connected) {
            *at = peer->next_sought;
            peer->sought = false;
            continue;
        }
        at = &peer->next_sought;
        if (peer->attempt.held)
            continue;
        int rc = attempt_step(peer);
        if (rc && rc != DRAIL_EAGAIN) { /* a call that wants it tries again */
            attempt_give_up(peer);
            peer_free(peer);
        }
        t->meeting |=
            !peer->connected &&
            (peer->attempt.wanted || has_links(peer) || requests_waiting(peer));
    }
}

void attempt_forget(struct peer *peer)
{
    peer->connected = false;
    peer->owner->unconnected++;
    peer_seek(peer);
}
