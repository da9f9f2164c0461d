/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_connect, and connections on demand of operations. */
#include "dapl_rail/connection.h"

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/teardown.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/attempt.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/connect/roster.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/connect/unconnected.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/outcome.h"
#include "dapl_rail/rails/rail.h"

#define CONNECT_NAP_NS 500000u

/* Is any link being connected? Its end will come as an event. */
static bool under_way(const struct peer *peer)
{
    const struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        if (link->state == LINK_CONNECTING && link->ep.state != EP_NONE)
            return true;
    return false;
}

/* A step of the connection, and of everything else. */
static int step_links(drail_t *t, struct peer *peer)
{
    for (unsigned r = 0; r < t->nrails; r++)
        rail_poll(&t->rails[r]);
    progress_check(t);
    return attempt_step(peer);
}

/* Until all links have been up; timeout_ms 0: one step. A peer that has ended
 * makes no more requests, so that is checked before its last ones are read. */
static int await_links(drail_t *t, struct peer *peer, int timeout_ms)
{
    struct patience p = {.t = t, .timeout_ms = timeout_ms};
    for (;;) {
        bool ended = job_has_ended(t->job, peer->rank);
        int rc = step_links(t, peer);
        if (rc != DRAIL_EAGAIN)
            return rc;
        if (ended && !under_way(peer))
            return fail(t, DRAIL_EPEER, "rank %u has ended", peer->rank);
        rc = timeout_ms ? patience_check(&p) : DRAIL_EAGAIN;
        if (rc)
            return rc;
        platform_sleep(t->job->platform, CONNECT_NAP_NS);
    }
}

/* Forgets the links, so that the peer can be connected again. */
static void forget_links(drail_t *t, struct peer *peer, int rc)
{
    links_end(t, peer, rc, "the connection was given up");
    peer_free(peer);
    links_await_free(t, peer);
}

static int timed_out(drail_t *t, const struct peer *peer)
{
    char missing[180];
    unconnected_text(peer, missing, sizeof missing);
    return fail(t, DRAIL_ETIMEOUT, "drail_connect(rank %u): not in time: %s",
                peer->rank, missing);
}

/* Does this rank lack something? Else the peer has ended the attempt, or will
 * find by itself that it has ended. */
static bool is_own(int rc)
{
    return rc == DRAIL_ENOMEM || rc == DRAIL_EDAT;
}

static int connect_peer(drail_t *t, struct peer *peer, int timeout_ms)
{
    peer->attempt.held = true;
    attempt_want(peer);
    /* its request may have been refused while this rank served other peers */
    int rc = sentence_is(peer->refused) ? atomic_load(&peer->error)
                                        : await_links(t, peer, timeout_ms);
    if (rc && rc != DRAIL_EAGAIN) {
        rc = rc == DRAIL_ETIMEOUT ? timed_out(t, peer)
                                  : outcome(t, peer, rc, "drail_connect");
        attempt_give_up(peer);
        forget_links(t, peer, rc);
        if (is_own(rc))
            solicit_give_up(peer);
    }
    peer->attempt.held = false;
    t->meeting = true; /* other attempts may have ended meanwhile: look */
    return rc;
}

static int no_rail(drail_t *t, const struct peer *peer)
{
    return fail(t, DRAIL_EPEER, "no rail reaches rank %u on host %s from here",
                peer->rank, roster_host_name(t->roster, peer->rank));
}

/* timeout_ms 0: makes one step, and returns DRAIL_EAGAIN if that was not the
 * last. */
static int connection_make(drail_t *t, struct peer *peer, int timeout_ms)
{
    return peer->rails ? connect_peer(t, peer, timeout_ms) : no_rail(t, peer);
}

struct peer *peer_find(drail_t *t, unsigned rank, int *rc)
{
    *rc = DRAIL_EINVAL;
    if (!t)
        return NULL;
    if (rank >= t->job->size || rank == t->job->rank) {
        fail(t, DRAIL_EINVAL, "rank %u is not another of %u ranks", rank,
             t->job->size);
        return NULL;
    }
    struct peer *peer = t->peers[rank];
    if (!peer)
        peer = peer_meet(t, rank);
    *rc = peer ? 0 : fail(t, DRAIL_ENOMEM, "out of memory");
    return peer;
}

struct peer *peer_connected(drail_t *t, unsigned rank, int timeout_ms, int *rc)
{
    struct peer *peer = peer_find(t, rank, rc);
    if (!peer || peer->connected)
        return peer;
    if (timeout_ms < 0)
        timeout_ms = t->cfg.connect_timeout_ms;
    *rc = connection_make(t, peer, timeout_ms);
    return *rc ? NULL : peer;
}

/* Has the connection ended, or does the peer ask for a new one? */
static bool has_ended(drail_t *t, const struct peer *peer)
{
    progress_check(t);
    return atomic_load(&peer->error) != 0;
}

/* timeout_ms 0: one step. */
static int connect_within(drail_t *t, unsigned rank, int timeout_ms)
{
    if (rank >= t->job->size || rank == t->job->rank)
        return fail(t, DRAIL_EINVAL,
                    "drail_connect: rank %u is not another of %u ranks", rank,
                    t->job->size);
    struct peer *peer = peer_meet(t, rank);
    if (!peer)
        return fail(t, DRAIL_ENOMEM, "out of memory");
    if (peer->connected) {
        if (!has_ended(t, peer))
            return 0;
        peer->attempt.held = true;
        forget_links(t, peer, DRAIL_EPEER);
        attempt_forget(peer);
    }
    return connection_make(t, peer, timeout_ms);
}

int drail_connect(drail_t *t, unsigned rank)
{
    return t ? connect_within(t, rank, t->cfg.connect_timeout_ms)
             : DRAIL_EINVAL;
}

int drail_connect_test(drail_t *t, unsigned rank)
{
    return t ? connect_within(t, rank, 0) : DRAIL_EINVAL;
}
