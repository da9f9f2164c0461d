/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/incoming_replay.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/final_counts.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"

/* The peer has lost its end of the link: so does this rank. The peer also sends
 * such a count of links that were lost before. It has come over `carrier`. */
static const char *loss_arrived(struct link *link, const struct wire *wire,
                                const struct link *carrier)
{
    struct loss *loss = &link->failover->loss;
    uint32_t losses = wire->seq - loss->losses;
    /* at the other end it did not come up either; or only later than others,
     * if it has brought this */
    if (losses == 0 && link->state == LINK_CONNECTING && link != carrier)
        link_lose(link, DRAIL_EPEER, "the peer could not connect it");
    if (losses == 1) {
        link_lose(link, DRAIL_EPEER, "the peer has lost it");
        ep_hurry(link);
        loss->losses = wire->seq; /* also of an EP that was not up here */
        loss->never_up = false;
    } else if (losses > 1 && losses < 1u << 31) {
        return "times that a link was lost";
    }
    if (wire->seq == loss->losses &&
        (int32_t)(wire->id - loss->epoch_heard) > 0) {
        loss->epoch_heard = wire->id;
        loss->peer_received = wire->bytes;
    }
    return NULL;
}

static const char *ack_arrived(struct link *link, const struct wire *wire)
{
    struct carrier *c = &link->failover->carrier;
    if (wire->seq - c->acked > c->sent - c->acked)
        return "acknowledgement";
    c->acked = wire->seq;
    link->peer->outstanding = wire->bytes;
    return NULL;
}

/* Passes on a message as if the link's own EP had brought it. */
static const char *message_arrived(struct link *link, const struct slot *slot)
{
    const struct wire *wire = (const struct wire *)slot->data;
    struct slot *spare = slot_spare(link);
    if (!spare)
        return "out of memory";
    slot_read(slot, 0, spare->data, slot->bytes);
    spare->bytes = slot->bytes;
    if (wire->type == WIRE_IMMED)
        return arrival_immediate(spare, wire->id);
    ((struct wire *)spare->data)->lane = 0;
    return arrival_message(spare);
}

static const char *handle(struct slot *slot)
{
    struct link *carrier = slot->link;
    struct incoming *in = &carrier->failover->incoming;
    const struct wire *wire = (const struct wire *)slot->data;
    struct link *link = lane_of(carrier, wire->lane);
    const char *wrong;
    if (!link || !link->journal.records)
        return "lane";
    peer_unsettle(carrier->peer);
    if (wire->type == WIRE_FINAL_COUNT) {
        wrong = NULL;
        final_count_arrived(link, wire);
    } else if (wire->type == WIRE_CARRIED_ACK) {
        wrong = ack_arrived(carrier, wire);
    } else {
        in->arrived++;
        in->ack_due = true;
        wrong = wire->type == WIRE_PROBE  ? NULL /* but acknowledged */
                : wire->type == WIRE_LOSS ? loss_arrived(link, wire, carrier)
                                          : message_arrived(link, slot);
    }
    slot_return(slot, false);
    carrier_acknowledge(carrier);
    return wrong;
}

/* In the order of arrival. */
static const char *handle_deferred(struct link *link)
{
    struct incoming *in = &link->failover->incoming;
    const char *wrong = NULL;
    while (!wrong && in->deferred) {
        struct slot *slot = &link->slots.all[in->deferred - 1];
        in->deferred = slot->deferred;
        wrong = handle(slot);
    }
    return wrong;
}

static void defer(struct slot *slot)
{
    struct link *link = slot->link;
    uint16_t *at = &link->failover->incoming.deferred;
    while (*at)
        at = &link->slots.all[*at - 1].deferred;
    *at = SLOT_NUMBER(slot);
    slot->deferred = 0;
    peer_unsettle(link->peer);
}

const char *incoming_replay_arrived(struct slot *slot)
{
    struct link *link = slot->link;
    if (!link->journal.records)
        return "lane";
    if (link->rail->owner->parallel) {
        defer(slot);
        return NULL;
    }
    const char *wrong = handle_deferred(link);
    return wrong ? wrong : handle(slot);
}

void incoming_replay_deferred(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        const char *wrong = handle_deferred(link);
        if (wrong)
            link_down(link, DRAIL_EDAT, "a malformed message arrived: %s",
                      wrong);
    }
}
