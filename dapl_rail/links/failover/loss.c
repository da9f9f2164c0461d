/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/loss.h"

#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/connect/requests.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"

#define ALL UINT32_MAX /* rails */

static uint32_t epoch_of(const struct peer *peer)
{
    const struct link *link;
    uint32_t epoch = 0;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));)
        epoch += link->failover->loss.losses;
    return epoch;
}

/* A link over which the peer can be reached, or NULL. */
static struct link *any_up(const struct peer *peer)
{
    struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));)
        if (link->ep.state == EP_UP)
            return link;
    return NULL;
}

static struct link *first_in(const struct peer *peer, enum link_state least)
{
    struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));)
        if (link->state >= least)
            return link;
    return NULL;
}

/* A link has ended, or none is up: ends all, so that neither side goes on over
 * others. */
static void end_all(struct peer *peer)
{
    const struct link *ended = first_in(peer, LINK_DOWN);
    const struct link *why = ended ? ended : first_in(peer, LINK_LOST);
    struct link *link;
    unsigned at = 0;
    while (why && (link = peer_next(peer, ALL, &at))) {
        if (!ended && link->state == LINK_LOST)
            replay_abandon(link);
        if (link->journal.records)
            link_down(link, why->error, "%s", sentence_text(why->why));
    }
}

/* Flushes the links that have ended; the queue of one may have been full
 * before. Is there any whose requests have not come back? */
static bool flush_ended(struct peer *peer)
{
    struct link *link;
    bool left = false;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));)
        left |= link->state == LINK_DOWN && !link_try_flush(link);
    return left;
}

/* Frees the EPs of lost links from which all has come back, and forces overdue
 * ones. Is any left? EPs that have never been up here do not count: what they
 * would bring is of a later epoch. */
static bool release_eps(struct peer *peer)
{
    struct link *link;
    bool ending = false;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));) {
        if (link->state != LINK_LOST)
            continue;
        if (link->post_failed)
            link_lose(link, DRAIL_EPEER, "its EP accepts no DTOs");
        if (ep_is_overdue(link)) {
            rail_catch_up(link->rail);
            ep_force(link);
        }
        /* the next EP may get its handle: its events must not be taken for
         * those of that one */
        if (ep_try_release(link))
            rail_check(link->rail);
        ending |= link->ep.state == EP_ENDING && !link->failover->loss.never_up;
    }
    return ending;
}

/* No link is up. May one come up soon, or may an ending EP still bring the
 * peer's last message? Gives up attempts that are not answered. */
static bool await_any(struct peer *peer)
{
    struct link *link;
    bool may = false;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));) {
        /* not for ever; a first connection has the time of its caller */
        if (link->state == LINK_LOST && link->ep.state == EP_CONNECTING &&
            peer->connected)
            reconnect_step(link);
        may |= link->ep.state != EP_NONE;
    }
    return may;
}

/* A carrier is lost with replayed requests under way. The links that it carried
 * ask the peer for its count again. */
static void unsync(struct peer *peer)
{
    struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));)
        if (link->state == LINK_LOST && link->failover->loss.synced &&
            link->failover->replay.carrier->ep.state != EP_UP) {
            link->failover->loss.synced = false;
            link->failover->loss.since_ns = job_now(peer->owner->job);
        }
}

/* Is the link's count still to be sent? Also that of a link that only the peer
 * has lost. */
static bool is_due(const struct link *link, uint32_t epoch)
{
    const struct loss *loss = &link->failover->loss;
    return (link->state == LINK_LOST || loss->epoch_heard == epoch) &&
           loss->epoch_sent != epoch;
}

bool loss_told(const struct link *link)
{
    return atomic_load(&link->peer->error) ||
           (!is_due(link, epoch_of(link->peer)) && carrier_idle(link));
}

/* Sends the counts of this epoch. Is any left? */
static bool send_counts(struct peer *peer, uint32_t epoch)
{
    struct link *link, *carrier;
    bool left = false;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));) {
        struct loss *loss = &link->failover->loss;
        const struct wire wire = {.type = WIRE_LOSS,
                                  .lane = (uint16_t)lane_number(link),
                                  .id = epoch,
                                  .seq = loss->losses,
                                  .bytes = link->credits.received};
        if (!is_due(link, epoch))
            continue;
        carrier = any_up(peer); /* another one may just have been lost */
        if (carrier && carrier_send(carrier, NULL, 0, &wire, NULL, 0))
            loss->epoch_sent = epoch;
        else
            left = true;
    }
    return left;
}

/* Have the peer's counts of this epoch come, for all lost links? */
static bool has_counts(const struct peer *peer, uint32_t epoch)
{
    const struct link *link;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));)
        if (link->state == LINK_LOST &&
            link->failover->loss.epoch_heard != epoch)
            return false;
    return true;
}

/* The peer's count has come: replay begins. */
static void sync(struct link *link, struct link *carrier)
{
    struct loss *loss = &link->failover->loss;
    drail_rail_stats_t *stats = &link->rail->stats;
    if (journal_delivered(link, loss->peer_received,
                          &link->failover->replay.delivered)) {
        link_down(link, DRAIL_EDAT, "the peer has received %lu messages of %lu",
                  (unsigned long)loss->peer_received,
                  (unsigned long)(link->queue.sent + link->credits.immeds));
        return;
    }
    replay_begin(link, carrier);
    loss->synced = true;
    /* not before: perhaps the peer has ended, which is no failure of a rail */
    stats->failures += loss->losses - loss->counted;
    loss->counted = loss->losses;
    stats->lost_ns += job_now(link->rail->owner->job) - loss->since_ns;
}

/* All has been replayed, and the link's own EP is up. */
static void up_again(struct link *link)
{
    struct peer *peer = link->peer;
    uint32_t bit = RAIL_BIT(link->rail->index);
    const struct link *other;
    unsigned at = 0;
    link_resume(link);
    link->failover->reconnect.backoff_ms = 0;
    link->failover->reconnect.retry_ns = 0;
    link_loss_ended(link);
    while ((other = peer_next(peer, bit, &at)) && other->state == LINK_UP)
        ;
    if (!other)
        atomic_fetch_or(&peer->up, bit);
    link_pay(link);
}

/* A step of a lost link. */
static void go_on(struct link *link, struct link *carrier)
{
    if (!link->failover->loss.synced)
        sync(link, link->ep.state == EP_UP ? link : carrier);
    if (link->state != LINK_LOST)
        return;
    if (link->ep.state == EP_UP)
        replay_return(link);
    if (link->ep.state != EP_UP || link->failover->replay.carrier == link)
        replay_continue(link);
    if (link->ep.state == EP_UP && replay_is_done(link))
        up_again(link);
    else
        reconnect_step(link);
}

/* All lost links are flushed: the two ends exchange counts, and go on. */
static void go_on_all(struct peer *peer)
{
    struct link *link, *carrier;
    unsigned at = 0;
    unsync(peer);
    send_counts(peer, epoch_of(peer));
    if (!has_counts(peer, epoch_of(peer)))
        return;
    while ((link = peer_next(peer, ALL, &at)) && (carrier = any_up(peer)))
        if (link->state == LINK_LOST)
            go_on(link, carrier);
}

/* Acknowledges what carriers have brought. Is anything left? */
static bool acknowledge(struct peer *peer)
{
    struct link *link;
    bool left = false;
    for (unsigned at = 0; (link = peer_next(peer, ALL, &at));) {
        carrier_acknowledge(link);
        left |= link->failover->incoming.ack_due;
    }
    return left;
}

/* A step for one peer. Is anything left to be done? */
static bool serve(struct peer *peer)
{
    if (peer->ending)
        return false;
    incoming_replay_deferred(peer);
    bool ending = release_eps(peer);
    bool lost = first_in(peer, LINK_LOST), cut_off = lost && !any_up(peer);
    bool error = atomic_load(&peer->error);
    if (cut_off && !error && await_any(peer))
        return true;
    if (cut_off || error) {
        if (peer->connected)
            end_all(peer);
        return flush_ended(peer) || !peer->connected;
    }
    bool left = acknowledge(peer);
    if (lost && !ending)
        go_on_all(peer);
    else if (!ending)
        left |= send_counts(peer, epoch_of(peer));
    return left || lost;
}

void loss_run(drail_t *t)
{
    atomic_store_explicit(&t->unsettled, false, memory_order_relaxed);
    for (unsigned r = 0; r < t->nrails; r++)
        rail_check(&t->rails[r]);
    requests_take(t);
    for (struct peer *peer = t->met; peer; peer = peer->next) {
        if (!atomic_load_explicit(&peer->unsettled, memory_order_relaxed))
            continue;
        atomic_store_explicit(&peer->unsettled, false, memory_order_relaxed);
        if (serve(peer))
            peer_unsettle(peer);
    }
}
