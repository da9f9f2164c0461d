/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A link outlives its EP: its DTOs, messages and credits are counted on, and
 * whoever uses it need not know. Both ends end the EP, so that nothing of it
 * lands late, and wait until all has come back. Then each tells the other, over
 * a link that is up, how many messages it has received on the lost one, ever:
 * what was posted up to the last of them has been delivered, what follows goes
 * over another link, the carrier, in the same order (detour.c).
 *
 * Where a carrier is lost, too, the same is done for all links that it carried:
 * the peer's count says what has come, over whichever link. An epoch is the
 * number of EPs that have been lost so far between these two ranks. A count
 * counts if it has been sent in the present epoch: then the peer knows of the
 * same losses, for it tells for each link how often that was lost, and nothing
 * on any of these EPs is under way any more.
 *
 * A link begins as one that is lost where it does not come up while others do:
 * it has been lost no times then, and its count is 0.
 *
 * This needs a completion to mean that data are delivered:
 * rail.info.is_delivering.
 */
#include "dapl_rail/links/lost.h"

#include "dapl_rail/base/sentence.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/carrier.h"
#include "dapl_rail/links/connect.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/detour.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/foreign.h"
#include "dapl_rail/links/journal.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/links/renew.h"
#include "dapl_rail/links/requests.h"

#define ALL UINT32_MAX /* rails */

static uint32_t epoch_of(const struct peer *peer)
{
    const struct link *link;
    unsigned at = 0;
    uint32_t epoch = 0;
    while ((link = peer_next(peer, ALL, &at)))
        epoch += link->lost->deaths;
    return epoch;
}

/* A link over which the peer can be reached, or NULL. */
static struct link *way_to(const struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, ALL, &at)))
        if (link->ep_state == EP_UP)
            return link;
    return NULL;
}

static struct link *first_in(const struct peer *peer, enum link_state least)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, ALL, &at)))
        if (link->state >= least)
            return link;
    return NULL;
}

/* One has ended, or none is left: all do, so that neither side goes on over
 * others. */
static void end_all(struct peer *peer)
{
    const struct link *ended = first_in(peer, LINK_DOWN);
    const struct link *why = ended ? ended : first_in(peer, LINK_LOST);
    struct link *link;
    unsigned at = 0;
    while (why && (link = peer_next(peer, ALL, &at))) {
        if (!ended && link->state == LINK_LOST)
            detour_end(link);
        if (link->journal)
            link_down(link, why->error, "%s", sentence_text(why->why));
    }
}

/* Has one that has ended not come back yet? Its queue may have been full. */
static bool flushes(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    bool left = false;
    while ((link = peer_next(peer, ALL, &at)))
        left |= link->state == LINK_DOWN && !link_flushed(link);
    return left;
}

/* Frees the EPs that have come back. Is there one left that has not? But for
 * those that have never been up here: what they would bring is of a later
 * epoch. */
static bool bury(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    bool ending = false;
    while ((link = peer_next(peer, ALL, &at))) {
        if (link->state != LINK_LOST)
            continue;
        if (link->broken)
            link_lost(link, DRAIL_EPEER, "it takes no DTOs");
        if (link_overdue(link)) {
            rail_catch_up(link->rail);
            link_force(link);
        }
        /* so that its connection events are not taken for those of the next
         * one, which may get its handle */
        if (link_bury_ep(link))
            rail_check(link->rail);
        ending |= link->ep_state == EP_ENDING && !link->lost->never_up;
    }
    return ending;
}

/* No link is up. May one be soon, or is the peer's last word perhaps among what
 * comes back of one? */
static bool may_come(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    bool may = false;
    while ((link = peer_next(peer, ALL, &at))) {
        /* not for ever; a first connection has the time of its caller */
        if (link->state == LINK_LOST && link->ep_state == EP_CONNECTING &&
            peer->connected)
            renew_serve(link);
        may |= link->ep_state != EP_NONE;
    }
    return may;
}

/* What was under way on carriers that are lost needs the peer's count again. */
static void unsync(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, ALL, &at)))
        if (link->state == LINK_LOST && link->lost->synced &&
            link->lost->carrier->ep_state != EP_UP) {
            link->lost->synced = false;
            link->lost->since_ns = job_now(peer->owner->job);
        }
}

/* Is its count to be told? Also that of a link that only the peer has lost. */
static bool is_due(const struct link *link, uint32_t epoch)
{
    const struct lost *lost = link->lost;
    return (link->state == LINK_LOST || lost->heard == epoch) &&
           lost->told != epoch;
}

bool lost_told(const struct link *link)
{
    return atomic_load(&link->peer->error) ||
           (!is_due(link, epoch_of(link->peer)) && carrier_idle(link));
}

/* Tells the counts of this epoch. Is there one left? */
static bool tell(struct peer *peer, uint32_t epoch)
{
    struct link *link, *way;
    unsigned at = 0;
    bool left = false;
    while ((link = peer_next(peer, ALL, &at))) {
        struct lost *lost = link->lost;
        const struct wire wire = {.type = WIRE_LOST,
                                  .lane = (uint16_t)lane_number(link),
                                  .id = epoch,
                                  .seq = lost->deaths,
                                  .bytes = link->received};
        if (!is_due(link, epoch))
            continue;
        way = way_to(peer); /* which may just have been lost */
        if (way && carrier_send(way, NULL, 0, &wire, NULL, 0))
            lost->told = epoch;
        else
            left = true;
    }
    return left;
}

static bool has_heard(const struct peer *peer, uint32_t epoch)
{
    const struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, ALL, &at)))
        if (link->state == LINK_LOST && link->lost->heard != epoch)
            return false;
    return true;
}

static void sync(struct link *link, struct link *carrier)
{
    struct lost *lost = link->lost;
    if (journal_until(link, lost->received, &lost->until)) {
        link_down(link, DRAIL_EDAT, "the peer has received %lu messages of %lu",
                  (unsigned long)lost->received,
                  (unsigned long)(link->sent + link->immeds));
        return;
    }
    detour_begin(link, carrier);
    lost->synced = true;
    /* not before: it may be the peer that ends */
    link->rail->stats.failures += lost->deaths - lost->counted;
    lost->counted = lost->deaths;
    link->rail->stats.lost_ns +=
        job_now(link->rail->owner->job) - lost->since_ns;
}

static void up_again(struct link *link)
{
    struct peer *peer = link->peer;
    uint32_t bit = RAIL_BIT(link->rail->index);
    const struct link *other;
    unsigned at = 0;
    link_resume(link);
    link->lost->backoff_ms = 0;
    link->lost->retry_ns = 0;
    link_lost_ends(link);
    while ((other = peer_next(peer, bit, &at)) && other->state == LINK_UP)
        ;
    if (!other)
        atomic_fetch_or(&peer->up, bit);
    link_pay(link);
}

static void go_on(struct link *link, struct link *carrier)
{
    if (!link->lost->synced)
        sync(link, link->ep_state == EP_UP ? link : carrier);
    if (link->state != LINK_LOST)
        return;
    if (link->ep_state == EP_UP)
        detour_turn(link);
    if (link->ep_state != EP_UP || link->lost->carrier == link)
        detour_go_on(link);
    if (link->ep_state == EP_UP && detour_ends(link))
        up_again(link);
    else
        renew_serve(link);
}

/* The lost links are flushed: the two ends compare notes, and go on. */
static void go_on_all(struct peer *peer)
{
    struct link *link, *carrier;
    unsigned at = 0;
    unsync(peer);
    tell(peer, epoch_of(peer));
    if (!has_heard(peer, epoch_of(peer)))
        return;
    while ((link = peer_next(peer, ALL, &at)) && (carrier = way_to(peer)))
        if (link->state == LINK_LOST)
            go_on(link, carrier);
}

/* Acknowledges what has come. Is there anything left? */
static bool acknowledge(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    bool left = false;
    while ((link = peer_next(peer, ALL, &at))) {
        carrier_acknowledge(link);
        left |= link->carrier->ack_due;
    }
    return left;
}

/* Is there anything left? */
static bool serve(struct peer *peer)
{
    if (peer->ending)
        return false;
    foreign_serve(peer);
    bool ending = bury(peer);
    bool lost = first_in(peer, LINK_LOST), cut_off = lost && !way_to(peer);
    bool error = atomic_load(&peer->error);
    if (cut_off && !error && may_come(peer))
        return true;
    if (cut_off || error) {
        if (peer->connected)
            end_all(peer);
        return flushes(peer) || !peer->connected;
    }
    bool left = acknowledge(peer);
    if (lost && !ending)
        go_on_all(peer);
    else if (!ending)
        left |= tell(peer, epoch_of(peer));
    return left || lost;
}

void lost_go_on(drail_t *t)
{
    atomic_store_explicit(&t->unsettled, false, memory_order_relaxed);
    for (unsigned r = 0; r < t->nrails; r++)
        rail_check(&t->rails[r]);
    requests_note(t);
    for (struct peer *peer = t->met; peer; peer = peer->next) {
        if (!atomic_load_explicit(&peer->unsettled, memory_order_relaxed))
            continue;
        atomic_store_explicit(&peer->unsettled, false, memory_order_relaxed);
        if (serve(peer))
            peer_unsettle(peer);
    }
}
