/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Posting of DTOs and messages on a link.
 *
 * Request queue: a provider may recycle the entries of suppressed DTOs only
 * when a later one completes with an event, so at least one DTO in a quarter
 * of the queue asks for it.
 *
 * Credits: a message consumes a receive that the peer has posted. We start
 * with as many credits as the peer has receives; every message carries back
 * those that its sender has consumed, or a message of its own when half of
 * the depth is owed. Such messages, the reply to an atomic and the last message
 * need no credit: link.c posts spare receives for them.
 */
#include <string.h>

#include "dapl_rail/base/dat.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/request.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/timing.h"

static DAT_RETURN dto_post(struct link *link, struct dto *d,
                           DAT_DTO_COOKIE cookie, DAT_COMPLETION_FLAGS flags)
{
    switch (d->verb) {
    case VERB_WRITE:
        return dat_ep_post_rdma_write(link->ep, 1, &d->local, cookie,
                                      &d->remote, flags);
    case VERB_READ:
        return dat_ep_post_rdma_read(link->ep, 1, &d->local, cookie, &d->remote,
                                     flags);
    case VERB_SEND:
        return dat_ep_post_send(link->ep, 1, &d->local, cookie, flags);
    case VERB_FETCH_ADD:
        return dat_ib_post_fetch_and_add(link->ep, d->operand, &d->local,
                                         cookie, &d->remote, flags);
    case VERB_CMP_SWAP:
        return dat_ib_post_cmp_and_swap(link->ep, d->compare, d->operand,
                                        &d->local, cookie, &d->remote, flags);
    }
    return DAT_NOT_IMPLEMENTED;
}

static const char *dto_call(enum verb verb)
{
    static const char *const names[] = {
        "dat_ep_post_rdma_write",   "dat_ep_post_rdma_read",
        "dat_ep_post_send",         "dat_ib_post_fetch_and_add",
        "dat_ib_post_cmp_and_swap",
    };
    return names[verb];
}

/* ------------------------------------------------------ room in the queue */

struct room {
    struct link *link;
    uint64_t retired; /* wait until so many are */
};

static int room_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct room *room = arg;
    const struct link *link = room->link;
    (void)t;
    *owed = 0;
    if (link->state == LINK_DOWN)
        return link->error;
    if (link->retired >= room->retired)
        return 1;
    *owed = RAIL_BIT(link->rail->index);
    return 0;
}

/* Waits in the rail's thread until at most so many DTOs are outstanding. */
static int queue_drain(struct link *link, uint64_t outstanding)
{
    struct room room = {.link = link};
    if (link->posted - link->retired <= outstanding)
        return 0;
    if (rail_poll(link->rail) > 0 &&
        link->posted - link->retired <= outstanding)
        return link->state == LINK_DOWN ? link->error : 0;
    room.retired = link->posted - outstanding;
    return rail_wait(link->rail, room_owed, &room,
                     link->rail->owner->cfg.timeout_ms);
}

static int link_error(struct link *link)
{
    return rail_fail(link->rail, link->error, "rank %u over %s: %s",
                     link->peer->rank, link->rail->info.name, link->why);
}

void link_retire(struct op *op, int status)
{
    struct link *link = op->link;
    struct req *req = op->req;

    link->retired = op->posted;
    link->sent_retired = op->sent;
    link->ops_tail = op->index + 1;
    if (op->message)
        timing_part(link->rail, op, !status);
    if (req) {
        if (status)
            atomic_store_explicit(&req->status, status, memory_order_relaxed);
        atomic_fetch_and_explicit(&req->pending, ~RAIL_BIT(link->rail->index),
                                  memory_order_release);
    }
    link_pay(link);
}

/* ---------------------------------------------------------------- posting */

/* Enough suppressed ones: this DTO must have an event. */
static bool event_due(const struct link *link, bool send)
{
    return link->posted + 1 - link->signalled >=
               link->rail->request_depth / 4 ||
           (send && link->sent + 1 - link->sent_signalled >=
                        link->rail->owner->cfg.depth / 4);
}

int link_post(struct link *link, struct dto *d, const struct completion *done)
{
    if (link->state != LINK_UP)
        return link->state == LINK_DOWN
                   ? link_error(link)
                   : rail_fail(link->rail, DRAIL_EPEER, "rank %u: no link yet",
                               link->peer->rank);
    int rc = queue_drain(link, link->rail->request_depth - 1);
    if (rc)
        return link->state == LINK_DOWN ? link_error(link) : rc;

    bool send = d->verb == VERB_SEND;
    bool event = done || event_due(link, send);
    struct op *op = &link->ops[link->ops_head & link->ops_mask];
    if (event)
        *op = (struct op){
            .link = link,
            .index = link->ops_head,
            .posted = link->posted + 1,
            .sent = link->sent + send,
            .req = done ? done->req : NULL,
            .message = done ? done->message : NULL,
            .start_ns = done ? done->start_ns : 0,
            .bytes = done ? done->bytes : 0,
        };
    DAT_DTO_COOKIE cookie = {.as_64 = event ? (uintptr_t)op : 0};
    DAT_COMPLETION_FLAGS flags =
        event ? DAT_COMPLETION_DEFAULT_FLAG : DAT_COMPLETION_SUPPRESS_FLAG;
    DAT_RETURN status = dto_post(link, d, cookie, flags);
    while (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES &&
           link->ops_head != link->ops_tail) {
        /* the provider's queue is shorter than it said: wait for one more;
         * events handled meanwhile must not send, as op is taken */
        bool posting = link->posting;
        link->posting = true;
        rc = queue_drain(link, link->posted - link->retired - 1);
        link->posting = posting;
        if (rc)
            return link->state == LINK_DOWN ? link_error(link) : rc;
        status = dto_post(link, d, cookie, flags);
    }
    if (status != DAT_SUCCESS) {
        rc = dat_fail(link->rail, dto_call(d->verb), status);
        rail_check(link->rail); /* perhaps the connection has just ended */
        return link->state == LINK_DOWN ? link_error(link) : rc;
    }
    link->posted++;
    link->sent += send;
    if (event) {
        link->ops_head++;
        link->signalled = link->posted;
        link->sent_signalled = link->sent;
    }
    return 0;
}

/* --------------------------------------------------------------- messages */

static bool needs_credit(uint8_t type)
{
    return type != WIRE_CREDIT && type != WIRE_ATOMIC_REPLY;
}

/* Is there a send slot whose last message is complete? One is kept for
 * messages of credits. */
static bool slot_free(const struct link *link, unsigned keep)
{
    return link->sent - link->sent_retired + keep <
           link->rail->owner->cfg.depth;
}

int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done)
{
    unsigned depth = link->rail->owner->cfg.depth;
    unsigned char *slot =
        link->buffers + (link->nslots + link->sent % depth) * link->slot_bytes;
    unsigned credits = link->owed;
    wire->credits = (uint16_t)credits;
    memcpy(slot, wire, sizeof *wire);
    if (bytes)
        memcpy(slot + sizeof *wire, payload, bytes);
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)slot,
                  .segment_length = (DAT_SEG_LENGTH)(sizeof *wire + bytes),
                  .lmr_context = link->lmr_context},
    };
    /* events handled meanwhile must not send: the slot is taken */
    link->posting = true;
    int rc = link_post(link, &d, done);
    link->posting = false;
    if (rc)
        return rc;
    link->owed -= credits;
    if (needs_credit(wire->type))
        link->credits--;
    link->rail->stats.sends++;
    link->rail->stats.send_bytes += bytes;
    link_pay(link);
    return 0;
}

/* Can a message that needs no credit be sent without waiting? */
static bool has_room(const struct link *link)
{
    return link->state == LINK_UP && !link->posting && slot_free(link, 0) &&
           link->posted - link->retired < link->rail->request_depth;
}

/* If there is no room now, link_retire or link_send tries again. */
void link_pay(struct link *link)
{
    if (!has_room(link))
        return;
    if (link->reply_due) {
        struct wire wire = {.type = WIRE_ATOMIC_REPLY};
        link->reply_due = false;
        link_send(link, &wire, &link->reply, sizeof link->reply, NULL);
    } else if (link->owed >= link->rail->owner->cfg.depth / 2) {
        struct wire wire = {.type = WIRE_CREDIT};
        link_send(link, &wire, NULL, 0, NULL);
    }
}

void link_owe(struct link *link)
{
    link->owed++;
    link_pay(link);
}

bool link_settled(struct link *link)
{
    if (link->state != LINK_UP || link->retired == link->posted)
        return true;
    /* the last DTOs are suppressed: one with an event tells of them */
    if (link->signalled != link->posted && has_room(link)) {
        struct wire wire = {.type = WIRE_CREDIT};
        link_send(link, &wire, NULL, 0, &(struct completion){0});
    }
    return false;
}

bool link_flushed(struct link *link)
{
    if (link->state == LINK_CONNECTING)
        return true;
    if (!link->last_posted) {
        /* requests end in order, so the event of one more tells of all */
        struct dto d = {
            .verb = VERB_SEND,
            .local = {.virtual_address = (uintptr_t)link->buffers,
                      .segment_length = 1,
                      .lmr_context = link->lmr_context},
        };
        DAT_DTO_COOKIE cookie = {.as_64 = (uintptr_t)link | 2};
        DAT_RETURN status =
            dto_post(link, &d, cookie, DAT_COMPLETION_DEFAULT_FLAG);
        if (DAT_GET_TYPE(status) == DAT_INSUFFICIENT_RESOURCES)
            return false; /* the queue is still full */
        link->last_posted = true;
        link->last_done = status != DAT_SUCCESS;
    }
    return link->last_done && !link->receives;
}

struct reserve {
    struct peer *peer;
    uint32_t rails;
};

static int reserve_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct reserve *want = arg;
    int error = atomic_load_explicit(&want->peer->error, memory_order_relaxed);
    (void)t;
    *owed = 0;
    if (error)
        return error;
    for (uint32_t left = want->rails; left; left &= left - 1) {
        unsigned r = (unsigned)__builtin_ctz(left);
        const struct link *link = want->peer->links[r];
        if (!link->credits || !slot_free(link, 1))
            *owed |= RAIL_BIT(r);
    }
    return *owed == 0;
}

int links_reserve(drail_t *t, struct peer *peer, uint32_t rails, int timeout_ms)
{
    struct reserve want = {.peer = peer, .rails = rails};
    uint32_t owed;
    int rc = reserve_owed(t, &want, &owed);
    if (rc == 0)
        rc = progress_wait(t, reserve_owed, &want, timeout_ms);
    return rc < 0 ? rc : 0;
}
