/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes and reads go with the carrier's contexts; sends as messages for the
 * lost link; writes with immediate data as both. What the peer has already is
 * only retired, except reads: their data may not have come. Writes are repeated
 * if no later message has come: until a transfer is complete, its target may
 * change.
 */
#include "dapl_rail/links/failover/outgoing_replay.h"

#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/failover/failover.h"
#include "dapl_rail/links/failover/journal.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/rails/fail.h"

/* --------------------------------------------------------- the carrier --- */

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

/* A post on the link has failed, with this status. Later there may be room;
 * anything else ends its EP. */
static void post_failed(struct link *link, DAT_RETURN status)
{
    if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES)
        return;
    dat_fail(link->rail, "dat_ep_post", status);
    link_lose(link, DRAIL_EPEER, "%s", link->rail->error.text);
}

/* Data leave room for messages. */
static bool has_room(const struct link *link, enum carried_as as)
{
    const struct carrier *c = &link->failover->carrier;
    unsigned keep = as == CARRIED_DATA ? 2 * WINDOW : 0;
    return link->ep.state == EP_UP && c->head - c->tail + keep < CARRIED_MAX;
}

/* False: there is no room now. */
static bool carrier_post(struct link *link, struct dto *d,
                         const struct carried *what)
{
    struct carrier *c = &link->failover->carrier;
    if (!has_room(link, what->as))
        return false;
    struct carried *carried = &c->ring[c->head % CARRIED_MAX];
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)carried | COOKIE_CARRIED};
    *carried = *what;
    carried->link = link;
    carried->bytes = d->local.segment_length;
    DAT_RETURN status = dto_post(link, d, cookie, DAT_COMPLETION_DEFAULT_FLAG);
    if (status != DAT_SUCCESS) {
        post_failed(link, status);
        return false;
    }
    c->head++;
    if (what->owner)
        what->owner->failover->replay.pending++;
    return true;
}

static bool post_message(struct link *link, unsigned char *buffer, size_t bytes,
                         const struct carried *what)
{
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)buffer,
                  .segment_length = (DAT_SEG_LENGTH)bytes,
                  .lmr_context = link->slots.lmr_context},
    };
    return carrier_post(link, &d, what);
}

/* Behind the link's own slots. */
static unsigned char *message_slot(const struct link *link, uint32_t number)
{
    const struct slots *s = &link->slots;
    size_t own = s->count + link->rail->owner->cfg.depth;
    return s->buffers + (own + number % WINDOW) * s->slot_bytes;
}

static unsigned char *ack_slot(const struct link *link, uint32_t number)
{
    return message_slot(link, 0) + WINDOW * link->slots.slot_bytes +
           number % WINDOW * ACK_BYTES;
}

bool carrier_send(struct link *link, struct link *owner, uint64_t number,
                  const struct wire *wire, const void *payload, size_t bytes)
{
    struct carrier *c = &link->failover->carrier;
    unsigned char *slot = message_slot(link, c->sent);
    if (c->sent - c->acked == WINDOW || c->sent - c->done == WINDOW ||
        !has_room(link, CARRIED_MESSAGE))
        return false;
    memcpy(slot, wire, sizeof *wire);
    if (bytes)
        job_copy(link->rail->owner->job, slot + sizeof *wire, payload, bytes);
    if (!post_message(link, slot, sizeof *wire + bytes,
                      &(struct carried){.owner = owner,
                                        .as = CARRIED_MESSAGE,
                                        .number = number}))
        return false;
    c->sent++;
    if (owner)
        owner->failover->replay.last = c->sent;
    return true;
}

void carrier_acknowledge(struct link *link)
{
    struct carrier *c = &link->failover->carrier;
    struct incoming *in = &link->failover->incoming;
    unsigned char *slot = ack_slot(link, c->acks_sent);
    if (!in->ack_due || c->acks_sent - c->acks_done == WINDOW ||
        !has_room(link, CARRIED_ACK))
        return;
    const struct wire wire = {.type = WIRE_CARRIED_ACK,
                              .lane = (uint16_t)lane_number(link),
                              .seq = in->arrived,
                              .bytes = peer_outstanding(link->peer)};
    memcpy(slot, &wire, sizeof wire);
    if (!post_message(link, slot, sizeof wire,
                      &(struct carried){.as = CARRIED_ACK}))
        return;
    c->acks_sent++;
    in->ack_due = false;
}

bool carrier_idle(const struct link *link)
{
    const struct carrier *c = &link->failover->carrier;
    return link->ep.state != EP_UP || c->head == c->tail;
}

void carrier_completed(const struct carried *carried)
{
    struct link *owner = carried->owner;
    struct carrier *c = &carried->link->failover->carrier;
    c->tail++;
    c->done += carried->as == CARRIED_MESSAGE;
    c->acks_done += carried->as == CARRIED_ACK;
    peer_unsettle(carried->link->peer);
    if (!owner)
        return;
    struct queue *q = &owner->queue;
    owner->failover->replay.pending--;
    owner->failover->replay.completed++;
    /* all requests of the owner that are before this one, too */
    if (q->ops_tail != q->ops_head && op_first(q)->posted == carried->number) {
        link_retire(op_first(q), 0);
        link_pay(owner);
    }
}

/* ------------------------------------------------------- the lost link --- */

void replay_begin(struct link *link, struct link *carrier)
{
    struct replay *r = &link->failover->replay;
    journal_leave_out_placed(link);
    r->next = link->queue.retired;
    r->next_op = link->queue.ops_tail;
    r->carrier = carrier;
    r->last = carrier->failover->carrier.sent;
    r->pending = 0;
    r->part = 0;
    r->written = false;
}

/* The op of the next record; NULL: it has no event. */
static struct op *next_op(const struct link *link)
{
    const struct replay *r = &link->failover->replay;
    if (r->next_op == link->queue.ops_head)
        return NULL;
    struct op *op = op_at(&link->queue, r->next_op);
    return op->posted == r->next + 1 ? op : NULL;
}

static bool carry_data(struct link *link, const struct record *record,
                       uint64_t number)
{
    struct replay *r = &link->failover->replay;
    const struct rail *rail = r->carrier->rail;
    struct dto d = journal_dto(link, record, rail->index);
    if (d.verb == VERB_WRITE_IMMED)
        d.verb = VERB_WRITE;
    for (;;) {
        uint64_t left = record->bytes - r->part;
        uint64_t part = left < rail->max_rdma ? left : rail->max_rdma;
        const struct carried what = {.owner = link,
                                     .as = CARRIED_DATA,
                                     .number = part == left ? number : 0};
        d.local.virtual_address = record->local + r->part;
        d.remote.virtual_address = record->remote + r->part;
        d.local.segment_length = d.remote.segment_length = (DAT_SEG_LENGTH)part;
        if (!carrier_post(r->carrier, &d, &what))
            return false;
        if (part == left)
            return true;
        r->part += part;
    }
}

static bool carry_send(struct link *link, const struct record *record,
                       uint64_t number)
{
    const unsigned char *slot = (const unsigned char *)(uintptr_t)record->local;
    struct wire wire = *(const struct wire *)slot;
    wire.lane = (uint16_t)lane_number(link);
    return carrier_send(link->failover->replay.carrier, link, number, &wire,
                        slot + sizeof wire, record->bytes - sizeof wire);
}

static bool carry_immed(struct link *link, const struct record *record,
                        uint64_t number)
{
    struct replay *r = &link->failover->replay;
    const struct wire wire = {.type = WIRE_IMMED,
                              .lane = (uint16_t)lane_number(link),
                              .id = record->immed};
    r->written = r->written || carry_data(link, record, 0);
    return r->written && carrier_send(r->carrier, link, number, &wire, NULL, 0);
}

static bool carry(struct link *link, const struct record *record,
                  uint64_t number)
{
    drail_rail_stats_t *stats = &link->rail->stats;
    bool done = record->verb == VERB_SEND ? carry_send(link, record, number)
                : record->verb == VERB_WRITE_IMMED
                    ? carry_immed(link, record, number)
                    : carry_data(link, record, number);
    if (done && link->failover->replay.carrier != link) {
        stats->carried++;
        stats->carried_bytes += record->bytes;
    }
    return done;
}

/* Posts it on the link's own EP as it was posted at first. */
static bool post_own(struct link *link, const struct record *record,
                     struct op *op)
{
    struct dto d = journal_dto(link, record, link->rail->index);
    DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)op};
    DAT_RETURN status = dto_post(
        link, &d, op ? cookie : cookie_suppressed(link),
        op ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG);
    if (status != DAT_SUCCESS)
        post_failed(link, status);
    return status == DAT_SUCCESS;
}

/* Completes a record that is not posted again, once all before it are complete.
 */
static bool try_retire(struct link *link, struct op *op, int status)
{
    const struct replay *r = &link->failover->replay;
    if (op && (r->pending || r->next_op != link->queue.ops_tail))
        return false;
    if (op)
        link_retire(op, status);
    return true;
}

/* Handles the next record. False: not now. */
static bool step(struct link *link)
{
    struct replay *r = &link->failover->replay;
    const struct record *record = journal_at(&link->journal, r->next);
    struct op *op = next_op(link);
    bool known = r->next < r->delivered, done;
    if (is_atomic(record->verb)) /* whether it was carried out is not known */
        done = try_retire(link, op, DRAIL_EPEER);
    else if (known && record->verb != VERB_READ)
        done = try_retire(link, op, 0);
    else if (known || r->carrier != link)
        done = carry(link, record, op ? r->next + 1 : 0);
    else
        done = post_own(link, record, op);
    if (!done)
        return false;
    if (r->next < r->tried)
        link->rail->stats.retries += !known;
    else
        r->tried = r->next + 1;
    r->next++;
    r->next_op += op != NULL;
    r->part = 0;
    r->written = false;
    return true;
}

void replay_continue(struct link *link)
{
    while (link->failover->replay.next != link->queue.posted && step(link))
        ;
}

void replay_return(struct link *link)
{
    struct replay *r = &link->failover->replay;
    if (r->carrier == link || r->pending ||
        (int32_t)(r->carrier->failover->carrier.acked - r->last) < 0)
        return;
    r->carrier = link;
    r->part = 0;
    r->written = false;
}

bool replay_is_done(const struct link *link)
{
    const struct replay *r = &link->failover->replay;
    return r->carrier == link && r->next == link->queue.posted && !r->pending;
}

void replay_abandon(struct link *link)
{
    struct queue *q = &link->queue;
    uint64_t delivered;
    if (journal_delivered(link, link->failover->loss.peer_received, &delivered))
        return; /* the peer's count is older than what is complete */
    while (q->ops_tail != q->ops_head) {
        struct op *op = op_first(q);
        unsigned verb = journal_at(&link->journal, op->posted - 1)->verb;
        bool answered = verb == VERB_READ || is_atomic(verb);
        if (op->posted > delivered)
            return;
        link_retire(op, answered ? link->error : 0);
    }
}
