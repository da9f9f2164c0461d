/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/failover/carrier.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/rails/fail.h"

unsigned lane_number(const struct link *link)
{
    return 1 + link->rail->index * DRAIL_MAX_EPS + link->index;
}

struct link *lane_of(const struct link *link, unsigned number)
{
    const drail_t *t = link->peer->owner;
    unsigned rail = (number - 1) / DRAIL_MAX_EPS;
    unsigned ep = (number - 1) % DRAIL_MAX_EPS;
    return number && rail < t->nrails && ep < t->cfg.eps
               ? peer_link(link->peer, rail, ep)
               : NULL;
}

/* ------------------------------------------------------------- posting */

/* Data leave room for messages. */
static bool has_room(const struct link *link, enum carried_as as)
{
    const struct carrier *c = link->carrier;
    unsigned keep = as == CARRIED_DATA ? 2 * WINDOW : 0;
    return link->ep_state == EP_UP && c->head - c->tail + keep < CARRIED;
}

static bool post(struct link *link, struct dto *d, const struct carried *what)
{
    struct carrier *c = link->carrier;
    if (!has_room(link, what->as))
        return false;
    struct carried *carried = &c->ring[c->head % CARRIED];
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)carried | COOKIE_CARRIED};
    *carried = *what;
    carried->link = link;
    carried->bytes = d->local.segment_length;
    DAT_RETURN status = dto_post(link, d, cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (status == DAT_SUCCESS) {
        c->head++;
        if (what->lane)
            what->lane->lost->pending++;
    } else if (DAT_GET_TYPE(status) != DAT_INSUFFICIENT_RESOURCES) {
        dat_fail(link->rail, "dat_ep_post", status);
        link_lost(link, DRAIL_EPEER, "%s", link->rail->error.text);
    }
    return status == DAT_SUCCESS;
}

bool carrier_post(struct link *link, struct dto *d, struct link *lane,
                  uint64_t number)
{
    return post(
        link, d,
        &(struct carried){.lane = lane, .as = CARRIED_DATA, .number = number});
}

static bool post_message(struct link *link, unsigned char *buffer, size_t bytes,
                         const struct carried *what)
{
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)buffer,
                  .segment_length = (DAT_SEG_LENGTH)bytes,
                  .lmr_context = link->lmr_context},
    };
    return post(link, &d, what);
}

/* Behind the link's own slots. */
static unsigned char *message_slot(const struct link *link, uint32_t number)
{
    size_t own = link->nslots + link->rail->owner->cfg.depth;
    return link->buffers + (own + number % WINDOW) * link->slot_bytes;
}

static unsigned char *ack_slot(const struct link *link, uint32_t number)
{
    return message_slot(link, 0) + WINDOW * link->slot_bytes +
           number % WINDOW * ACK_BYTES;
}

bool carrier_send(struct link *link, struct link *lane, uint64_t number,
                  const struct wire *wire, const void *payload, size_t bytes)
{
    struct carrier *c = link->carrier;
    unsigned char *slot = message_slot(link, c->sent);
    if (c->sent - c->acked == WINDOW || c->sent - c->done == WINDOW ||
        !has_room(link, CARRIED_MESSAGE))
        return false;
    memcpy(slot, wire, sizeof *wire);
    if (bytes)
        job_copy(link->rail->owner->job, slot + sizeof *wire, payload, bytes);
    if (!post_message(link, slot, sizeof *wire + bytes,
                      &(struct carried){.lane = lane,
                                        .as = CARRIED_MESSAGE,
                                        .number = number}))
        return false;
    c->sent++;
    if (lane)
        lane->lost->last = c->sent;
    return true;
}

void carrier_acknowledge(struct link *link)
{
    struct carrier *c = link->carrier;
    unsigned char *slot = ack_slot(link, c->ack_sent);
    if (!c->ack_due || c->ack_sent - c->ack_done == WINDOW ||
        !has_room(link, CARRIED_ACK))
        return;
    const struct wire wire = {.type = WIRE_CARRIED,
                              .lane = (uint16_t)lane_number(link),
                              .seq = c->arrived,
                              .bytes = peer_ahead(link->peer)};
    memcpy(slot, &wire, sizeof wire);
    if (!post_message(link, slot, sizeof wire,
                      &(struct carried){.as = CARRIED_ACK}))
        return;
    c->ack_sent++;
    c->ack_due = false;
}

bool carrier_acknowledged(const struct link *link, uint32_t number)
{
    return (int32_t)(link->carrier->acked - number) >= 0;
}

bool carrier_idle(const struct link *link)
{
    return link->ep_state != EP_UP ||
           link->carrier->head == link->carrier->tail;
}

/* ---------------------------------------------------------- completion */

/* All DTOs of the lane that are before this one, too. */
static void complete(struct link *lane, uint64_t number)
{
    if (lane->ops_tail == lane->ops_head || op_first(lane)->posted != number)
        return;
    link_retire(op_first(lane), 0);
    link_pay(lane);
}

void carrier_done(const struct carried *carried)
{
    struct link *lane = carried->lane;
    struct carrier *c = carried->link->carrier;
    c->tail++;
    c->done += carried->as == CARRIED_MESSAGE;
    c->ack_done += carried->as == CARRIED_ACK;
    peer_unsettle(carried->link->peer);
    if (!lane)
        return;
    lane->lost->pending--;
    lane->lost->detoured++;
    complete(lane, carried->number);
}
