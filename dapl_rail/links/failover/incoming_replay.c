/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/incoming_replay.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/failover/carrier.h"
#include "dapl_rail/links/failover/final_counts.h"
#include "dapl_rail/links/peer.h"

/* The peer's link is lost: so is ours. Then the peer tells what it has received
 * over it and over links that were lost before. */
static const char *lost_arrived(struct link *lane, const struct wire *wire,
                                const struct link *way)
{
    struct lost *lost = lane->lost;
    uint32_t deaths = wire->seq - lost->deaths;
    /* at the other end it did not come up either; or only later than others,
     * if it has brought this */
    if (deaths == 0 && lane->state == LINK_CONNECTING && lane != way)
        link_lost(lane, DRAIL_EPEER, "the peer could not connect it");
    if (deaths == 1) {
        link_lost(lane, DRAIL_EPEER, "the peer has lost it");
        link_hurry(lane);
        lost->deaths = wire->seq; /* also of an EP that was not up here */
        lost->never_up = false;
    } else if (deaths > 1 && deaths < 1u << 31) {
        return "times that a link was lost";
    }
    if (wire->seq == lost->deaths && (int32_t)(wire->id - lost->heard) > 0) {
        lost->heard = wire->id;
        lost->received = wire->bytes;
    }
    return NULL;
}

static const char *acknowledged(struct link *link, const struct wire *wire)
{
    struct carrier *c = link->carrier;
    if (wire->seq - c->acked > c->sent - c->acked)
        return "acknowledgement";
    c->acked = wire->seq;
    link->peer->ahead = wire->bytes;
    return NULL;
}

/* What the lane's own EP would have brought. */
static const char *message_arrived(struct link *lane, const struct slot *slot)
{
    const struct wire *wire = (const struct wire *)slot->data;
    struct slot *spare = slot_spare(lane);
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
    struct link *link = slot->link;
    const struct wire *wire = (const struct wire *)slot->data;
    struct link *lane = lane_of(link, wire->lane);
    const char *wrong;
    if (!lane || !lane->journal)
        return "lane";
    peer_unsettle(link->peer);
    if (wire->type == WIRE_FAREWELL) {
        wrong = NULL;
        farewell_arrived(lane, wire);
    } else if (wire->type == WIRE_CARRIED) {
        wrong = acknowledged(link, wire);
    } else {
        link->carrier->arrived++;
        link->carrier->ack_due = true;
        wrong = wire->type == WIRE_PROBE  ? NULL /* but acknowledged */
                : wire->type == WIRE_LOST ? lost_arrived(lane, wire, link)
                                          : message_arrived(lane, slot);
    }
    slot_return(slot, false);
    carrier_acknowledge(link);
    return wrong;
}

/* What came while several threads were at work, in its order. */
static const char *handle_later(struct link *link)
{
    const char *wrong = NULL;
    while (!wrong && link->carrier->later) {
        struct slot *slot = &link->slots[link->carrier->later - 1];
        link->carrier->later = slot->later;
        wrong = handle(slot);
    }
    return wrong;
}

static void keep_for_later(struct slot *slot)
{
    struct link *link = slot->link;
    uint16_t *at = &link->carrier->later;
    while (*at)
        at = &link->slots[*at - 1].later;
    *at = SLOT_NUMBER(slot);
    slot->later = 0;
    peer_unsettle(link->peer);
}

const char *foreign_arrived(struct slot *slot)
{
    struct link *link = slot->link;
    if (!link->journal)
        return "lane";
    if (link->rail->owner->parallel) {
        keep_for_later(slot);
        return NULL;
    }
    const char *wrong = handle_later(link);
    return wrong ? wrong : handle(slot);
}

void foreign_serve(struct peer *peer)
{
    struct link *link;
    unsigned at = 0;
    while ((link = peer_next(peer, UINT32_MAX, &at))) {
        const char *wrong = handle_later(link);
        if (wrong)
            link_down(link, DRAIL_EDAT, "a malformed message arrived: %s",
                      wrong);
    }
}
