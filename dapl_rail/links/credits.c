/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/links/credits.h"

#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/queue.h"
#include "dapl_rail/links/room.h"
#include "providers/core/extensions.h"

/* A message with a credit has been posted. */
static void credit_used(struct link *link)
{
    link->credits.reserved--;
    link->credits.last[1] = link->credits.last[0];
    link->credits.last[0] = link->queue.posted;
}

/* Is a send slot free, besides those that are reserved, and so many more? */
static bool has_send_slot(const struct link *link, unsigned keep)
{
    return link->queue.sent - link->queue.sent_retired +
               link->credits.reserved + keep <
           link->rail->owner->cfg.depth;
}

int link_reserve(struct link *link)
{
    if (link->state >= LINK_DOWN)
        return link->error;
    /* one slot is kept for messages of credits */
    if (link->credits.available <= 0 || !has_send_slot(link, 1))
        return DRAIL_EAGAIN;
    link->credits.available--;
    link->credits.reserved++;
    return 0;
}

void link_unreserve(struct link *link)
{
    link->credits.available++;
    link->credits.reserved--;
}

/* Where the next message of so many bytes is sent from. */
static unsigned char *send_place(const struct link *link, size_t bytes,
                                 bool grows)
{
    return bytes <= SLOT_HEAD && !grows
               ? link->slots.heads + (link->credits.next * 2 + 1) * SLOT_HEAD
               : link->slots.buffers +
                     (link->slots.count + link->credits.next) *
                         link->slots.slot_bytes;
}

static void next_send_place(struct link *link)
{
    unsigned next = link->credits.next + 1;
    link->credits.next = next < link->rail->owner->cfg.depth ? next : 0;
}

/* Posts a message whose header begins with *wire. */
static int post_headed(struct link *link, struct wire *wire, struct gather *g,
                       const struct completion *done)
{
    DAT_SEG_LENGTH bytes =
        g->parts[0].segment_length + g->parts[1].segment_length;
    bool grows = growing_begins(link, wire, g->parts[1].segment_length);
    wire->credits = (uint16_t)link->credits.owed;
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)send_place(link, bytes, grows),
                  .segment_length = bytes,
                  .lmr_context = link->slots.lmr_context},
        .gather = g,
        .grows = grows,
    };
    int rc = link_post(link, &d, done);
    if (rc)
        return rc;
    growing_posted(link, &d);
    next_send_place(link);
    link->credits.owed = 0;
    link->rail->stats.sends++;
    return 0;
}

static int post_message(struct link *link, struct wire *wire,
                        const void *payload, size_t bytes,
                        const struct completion *done)
{
    struct gather g = gather_of(wire, sizeof *wire, payload, bytes);
    int rc = post_headed(link, wire, &g, done);
    if (!rc)
        link->rail->stats.send_bytes += bytes;
    return rc;
}

int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done)
{
    int rc = post_message(link, wire, payload, bytes, done);
    if (!rc)
        credit_used(link);
    return rc;
}

/* Not inlined: only links with a journal need it. */
static __attribute__((noinline)) void
keep_for_replay(struct link *link, const struct wire_words *head,
                const void *payload, size_t bytes)
{
    struct gather g = gather_of(head, sizeof *head, payload, bytes);
    size_t all = sizeof *head + bytes;
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)send_place(link, all, false),
                  .segment_length = (DAT_SEG_LENGTH)all,
                  .lmr_context = link->slots.lmr_context},
        .gather = &g,
    };
    link_keep_direct(link, &d);
}

/* Posts it if that needs no event. */
static inline bool post_direct(struct link *link, const struct wire_words *head,
                               const void *payload, size_t bytes)
{
    const struct dapl_direct *direct = link->rail->direct;
    if (!direct || link->state != LINK_UP || !room_make(link) ||
        room_event_due(link, true) ||
        !direct->send(link->ep.handle, head, sizeof *head, payload, bytes,
                      cookie_suppressed(link)))
        return false;
    link->queue.posted++;
    link->queue.sent++;
    return true;
}

bool link_try_send_direct(struct link *link, uint32_t seq, const void *payload,
                          size_t bytes)
{
    struct credits *c = &link->credits;
    const struct wire_words head =
        wire_words_of((struct wire){.type = WIRE_EAGER,
                                    .credits = (uint16_t)c->owed,
                                    .seq = seq,
                                    .bytes = bytes});
    if (c->available <= 0 || !has_send_slot(link, 1) ||
        !post_direct(link, &head, payload, bytes))
        return false;
    if (link->journal.records)
        keep_for_replay(link, &head, payload, bytes);
    c->available--;
    c->reserved++;
    credit_used(link);
    next_send_place(link);
    c->owed = 0;
    link->rail->stats.sends++;
    link->rail->stats.send_bytes += bytes;
    return true;
}

bool link_send_progress(struct link *link)
{
    struct wire wire = {.type = WIRE_PROGRESS};
    int depth = (int)link->rail->owner->cfg.depth;
    if (link->credits.available <= depth / 2 || link_reserve(link))
        return false;
    bool said = !link_send(link, &wire, NULL, 0, NULL);
    if (!said)
        link_unreserve(link);
    return said;
}

/* In the statistics, these bytes are those of the put. */
int link_send_put(struct link *link, const struct wire *wire,
                  const struct wire_put *put, const void *payload, size_t bytes)
{
    struct {
        struct wire wire;
        struct wire_put put;
    } head = {*wire, *put};
    struct gather g = gather_of(&head, sizeof head, payload, bytes);
    int rc = post_headed(link, &head.wire, &g, NULL);
    if (!rc)
        credit_used(link);
    return rc;
}

int link_write_immed(struct link *link, struct dto *write, uint32_t note,
                     const struct completion *done)
{
    unsigned credits =
        link->credits.owed < IMMED_CREDITS ? link->credits.owed : IMMED_CREDITS;
    write->verb = VERB_WRITE_IMMED;
    write->immed = note << IMMED_CREDIT_BITS | credits;
    int rc = link_post(link, write, done);
    if (rc)
        return rc;
    link->credits.owed -= credits;
    credit_used(link);
    link->credits.immeds++;
    return 0;
}

/* Can a message that needs no credit be sent? */
static bool has_room(const struct link *link)
{
    return (link->state == LINK_UP || link->state == LINK_LOST) &&
           has_send_slot(link, 0) && link_room(link) > 0;
}

/* Is called again after each event of the link. */
void link_pay(struct link *link)
{
    struct wire wire = {.type = WIRE_CREDIT};
    for (unsigned i = 0; link->credits.replies && i < REPLIES; i++) {
        struct reply *reply = &link->credits.replies[i];
        if (reply->due && has_room(link))
            reply->due = post_message(link, &reply->wire, reply->data,
                                      reply->bytes, NULL) != 0;
    }
    if (link->credits.owed >= link->rail->owner->cfg.depth / 2 &&
        has_room(link))
        post_message(link, &wire, NULL, 0, NULL);
}

void link_owe(struct link *link)
{
    link->credits.owed++;
    link_pay(link);
}

int link_may_reply(struct link *link)
{
    if (!link->credits.replies)
        link->credits.replies = calloc(REPLIES, sizeof *link->credits.replies);
    return link->credits.replies ? 0 : DRAIL_ENOMEM;
}

int link_reply(struct link *link, enum reply_kind kind, const struct wire *wire,
               const void *payload, uint8_t bytes)
{
    int rc = link_may_reply(link);
    if (rc)
        return rc;
    struct reply *reply = &link->credits.replies[kind];
    reply->due = true;
    reply->wire = *wire;
    reply->bytes = bytes;
    if (bytes)
        memcpy(reply->data, payload, bytes);
    link_pay(link);
    return 0;
}

int link_withdraw(struct link *link, const struct wire *wire)
{
    link->credits.available--;
    return link_reply(link, REPLY_WITHDRAWN, wire, NULL, 0);
}

int link_replied(const struct link *link, enum reply_kind kind)
{
    if (link->credits.replies && !link->credits.replies[kind].due)
        return 1;
    return link->state >= LINK_DOWN ? link->error : 0;
}

bool link_try_settle(struct link *link)
{
    if ((link->state != LINK_UP && link->state != LINK_LOST) ||
        link->queue.retired == link->queue.posted)
        return true;
    /* the last requests have no event: this one's tells of them */
    if (link->queue.signalled != link->queue.posted && has_room(link)) {
        struct wire wire = {.type = WIRE_CREDIT};
        post_message(link, &wire, NULL, 0, &(struct completion){0});
    }
    return false;
}
