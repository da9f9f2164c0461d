/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_close: delivers what was sent, disconnects, and frees everything. */
#include <stdlib.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/sentence.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/team.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/transports.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/connect/requests.h"
#include "dapl_rail/links/connect/solicit.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/final_counts.h"
#include "dapl_rail/links/failover/loss.h"
#include "dapl_rail/links/failover/outgoing_replay.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/loopback.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/tuning/timing.h"
#include "dapl_rail/wireup.h"

#define CLOSE_MS 1000 /* for each step of the disconnection, … */
#define HASTE_MS 100  /* … in a job that is interrupted */

static bool link_ended(struct link *link)
{
    return link->state != LINK_UP;
}

/* All that this rank posted is complete, and the peer has been told what has
 * come from it. */
static bool link_closable(struct link *link)
{
    return !link->peer->connected || (link_try_settle(link) && loss_told(link));
}

static bool final_counts_sent(struct link *link)
{
    return carrier_idle(link);
}

static void links_await(drail_t *t, bool (*reached)(struct link *link))
{
    progress_until(t, reached, NULL, UINT32_MAX,
                   drail_job_interrupted(t->job) ? HASTE_MS : CLOSE_MS);
}

/* Waits until what was posted has been delivered. The timeout begins anew
 * whenever something completes. */
static int await_delivery(drail_t *t)
{
    struct patience p = {.t = t, .timeout_ms = t->cfg.timeout_ms}, anew = p;
    uint64_t before = drail_moved(t, t->job->rank);
    while (!progress_until(t, link_closable, NULL, UINT32_MAX, TURN_MS)) {
        uint64_t completed = drail_moved(t, t->job->rank);
        if (completed != before)
            p = anew;
        before = completed;
        int rc = patience_check(&p);
        if (rc)
            return rc;
    }
    return 0;
}

/* Ends the connections. Verbs providers cut off what is under way even in a
 * graceful disconnect, so all of it must be complete before. 0, or why it is
 * not. */
static int disconnect(drail_t *t)
{
    struct link *link;
    struct peer *peer;
    t->closing = true;
    for (peer = t->met; peer; peer = peer->next) {
        solicit_end(peer);
        requests_reject(peer);
    }
    int rc = await_delivery(t);
    for (peer = t->met; peer; peer = peer->next)
        if (peer->connected)
            final_counts_send(peer);
    links_await(t, final_counts_sent);
    for (peer = t->met; peer; peer = peer->next)
        peer->ending = true;
    for (peer = t->met; peer; peer = peer->next)
        for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));)
            if (link->ep.state == EP_UP) {
                ep_disconnect(link);
                rail_catch_up(link->rail); /* its receives are flushed */
            }
    links_await(t, link_ended);
    for (peer = t->met; peer; peer = peer->next) /* the peer did not answer */
        for (unsigned at = 0; (link = peer_next(peer, UINT32_MAX, &at));) {
            link->ep.disconnecting = false; /* now abruptly */
            link_down(link, DRAIL_EPEER, "closed");
        }
    links_await(t, link_try_drain);
    return rc;
}

int drail_close(drail_t *t)
{
    int rc = 0;
    if (!t)
        return 0;
    transports_detach(t->job, t);
    team_close(t);
    if (t->peers && t->rails) {
        rc = disconnect(t);
        for (struct peer *peer = t->met; peer; peer = peer->next)
            peer_free(peer);
        links_await(t, NULL); /* EPs of earlier attempts, too */
        for (unsigned r = 0; r < t->nrails; r++)
            links_bury(&t->rails[r], true);
    }
    for (unsigned r = 0; t->rails && r < t->nrails; r++)
        loopback_close(&t->rails[r]);
    regions_free(t);
    for (unsigned r = 0; t->rails && r < t->nrails; r++)
        rail_close(&t->rails[r]);
    free(t->rails);
    for (struct peer *next; t->met; t->met = next) {
        next = t->met->next;
        sentence_free(&t->met->refused);
        free(t->met);
    }
    free(t->peers);
    free(t->spare);
    free(t->noted);
    wireup_forget(t);
    timing_close(t);
    free(t);
    return rc;
}
