/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_connect. */
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/engine/ending.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/requests.h"
#include "dapl_rail/peers.h"
#include "dapl_rail/rails/rail.h"

#define CONNECT_NAP_NS 500000u

/* Is any link on its way? Its end comes as an event. */
static bool under_way(const struct peer *peer)
{
    const struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        if (link->state == LINK_CONNECTING)
            return true;
    return false;
}

/* Until every link has been up. Who has ended asks for no more: that is looked
 * for before what has come. */
static int await_links(drail_t *t, struct peer *peer)
{
    struct patience p = {.t = t, .timeout_ms = t->cfg.connect_timeout_ms};
    int rc = connect_ask(t, peer);
    while (!rc && !connect_done(t, peer)) {
        bool ended = job_has_ended(t->job, peer->rank);
        requests_serve(t);
        for (unsigned r = 0; r < t->nrails; r++) {
            rail_poll(&t->rails[r]);
            rail_check(&t->rails[r]);
        }
        bool ending = connect_renew(t, peer);
        if (connect_done(t, peer))
            break;
        if (!ending)
            rc = connect_error(peer);
        if (!rc && ended && !under_way(peer))
            rc = fail(t, DRAIL_EPEER, "rank %u has ended", peer->rank);
        if (rc)
            break;
        rc = patience_check(&p);
        platform_sleep(t->job->platform, CONNECT_NAP_NS);
    }
    return rc;
}

/* So that it can be connected to again. */
static void forget_links(drail_t *t, struct peer *peer, int rc)
{
    uint32_t rails = 0;
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at)))
        rails |= RAIL_BIT(link->rail->index);
    links_end(t, peer, rails, rc, "the connection was given up");
    peer_free(peer);
    links_await_free(t, peer);
}

/* Has the connection ended, or does the peer ask for another? */
static bool has_ended(drail_t *t, const struct peer *peer)
{
    progress_check(t);
    requests_serve(t);
    return atomic_load(&peer->error) != 0;
}

static int connect_peer(drail_t *t, struct peer *peer)
{
    /* its request may have been refused while we spoke with others */
    int rc =
        peer->refused[0] ? atomic_load(&peer->error) : await_links(t, peer);
    if (rc) {
        rc = outcome(t, peer, rc, "drail_connect");
        requests_end(peer);
        forget_links(t, peer, rc);
    }
    peer->connected = !rc;
    return rc;
}

int drail_connect(drail_t *t, unsigned rank)
{
    if (!t)
        return DRAIL_EINVAL;
    if (rank >= t->job->size || rank == t->job->rank)
        return fail(t, DRAIL_EINVAL,
                    "drail_connect: rank %u is not another of %u ranks", rank,
                    t->job->size);
    struct peer *peer = &t->peers[rank];
    if (!peer->rails)
        return fail(t, DRAIL_EPEER,
                    "drail_connect: no rail reaches rank %u on host %s from "
                    "here",
                    rank, peer->host);
    if (peer->connected) {
        if (!has_ended(t, peer))
            return 0;
        forget_links(t, peer, DRAIL_EPEER);
        peer->connected = false;
    }
    return connect_peer(t, peer);
}
