/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A message consumes a receive that the peer has posted. We start with as many
 * credits as the peer has receives; every message carries back those that its
 * sender has consumed, or a message of its own when half of the depth is owed.
 * Such messages, replies and the last message need no credit: there are spare
 * receives for them.
 */
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/credits.h"

#include <stdlib.h>
#include <string.h>

#include "dapl_rail/base/handle.h"
#include "dapl_rail/links/queue.h"

/* Is there a send slot whose last message is complete, besides those that are
 * reserved? */
static bool slot_free(const struct link *link, unsigned keep)
{
    return link->sent - link->sent_retired + link->reserved + keep <
           link->rail->owner->cfg.depth;
}

int link_reserve(struct link *link)
{
    if (link->state >= LINK_DOWN)
        return link->error;
    /* one slot is kept for messages of credits */
    if (link->credits <= 0 || !slot_free(link, 1))
        return DRAIL_EAGAIN;
    link->credits--;
    link->reserved++;
    return 0;
}

void link_unreserve(struct link *link)
{
    link->credits++;
    link->reserved--;
}

/* Where the next message of so many bytes is sent from. */
static unsigned char *send_place(const struct link *link, size_t bytes)
{
    return bytes <= SLOT_HEAD
               ? link->heads + (link->next * 2 + 1) * SLOT_HEAD
               : link->buffers + (link->nslots + link->next) * link->slot_bytes;
}

/* What is sent for a put counts as the put's. */
static int post_message(struct link *link, struct wire *wire,
                        const struct wire_put *put, const void *payload,
                        size_t bytes, const struct completion *done)
{
    size_t head = sizeof *wire;
    if (!link_room(link))
        return DRAIL_EAGAIN; /* before the bytes are copied */
    unsigned depth = link->rail->owner->cfg.depth;
    unsigned char *slot =
        send_place(link, head + (put ? sizeof *put : 0) + bytes);
    wire->credits = (uint16_t)link->owed;
    memcpy(slot, wire, sizeof *wire);
    if (put) {
        memcpy(slot + head, put, sizeof *put);
        head += sizeof *put;
    }
    if (bytes)
        job_copy(link->rail->owner->job, slot + head, payload, bytes);
    struct dto d = {
        .verb = VERB_SEND,
        .local = {.virtual_address = (uintptr_t)slot,
                  .segment_length = (DAT_SEG_LENGTH)(head + bytes),
                  .lmr_context = link->lmr_context},
    };
    int rc = link_post(link, &d, done);
    if (rc)
        return rc;
    link->next = link->next + 1 < depth ? link->next + 1 : 0;
    link->owed = 0;
    link->rail->stats.sends++;
    link->rail->stats.send_bytes += put ? 0 : bytes;
    return 0;
}

int link_send(struct link *link, struct wire *wire, const void *payload,
              size_t bytes, const struct completion *done)
{
    int rc = post_message(link, wire, NULL, payload, bytes, done);
    if (!rc)
        link->reserved--;
    return rc;
}

bool link_say_reading(struct link *link)
{
    struct wire wire = {.type = WIRE_READING};
    int depth = (int)link->rail->owner->cfg.depth;
    if (link->credits <= depth / 2 || link_reserve(link))
        return false;
    bool said = !link_send(link, &wire, NULL, 0, NULL);
    if (!said)
        link_unreserve(link);
    return said;
}

int link_send_put(struct link *link, struct wire *wire,
                  const struct wire_put *put, const void *payload, size_t bytes)
{
    int rc = post_message(link, wire, put, payload, bytes, NULL);
    if (!rc)
        link->reserved--;
    return rc;
}

int link_write_immed(struct link *link, struct dto *write, uint32_t note,
                     const struct completion *done)
{
    unsigned credits = link->owed < IMMED_CREDITS ? link->owed : IMMED_CREDITS;
    write->verb = VERB_WRITE_IMMED;
    write->immed = note << IMMED_CREDIT_BITS | credits;
    int rc = link_post(link, write, done);
    if (rc)
        return rc;
    link->owed -= credits;
    link->reserved--;
    link->immeds++;
    return 0;
}

/* Can a message that needs no credit be sent? */
static bool has_room(const struct link *link)
{
    return (link->state == LINK_UP || link->state == LINK_LOST) &&
           slot_free(link, 0) && link_room(link) > 0;
}

/* What can't be sent now is tried again after each event of the link. */
void link_pay(struct link *link)
{
    struct wire wire = {.type = WIRE_CREDIT};
    for (unsigned i = 0; link->replies && i < REPLIES; i++) {
        struct reply *reply = &link->replies[i];
        if (reply->due && has_room(link))
            reply->due = post_message(link, &reply->wire, NULL, reply->data,
                                      reply->bytes, NULL) != 0;
    }
    if (link->owed >= link->rail->owner->cfg.depth / 2 && has_room(link))
        post_message(link, &wire, NULL, NULL, 0, NULL);
}

void link_owe(struct link *link)
{
    link->owed++;
    link_pay(link);
}

int link_may_reply(struct link *link)
{
    if (!link->replies)
        link->replies = calloc(REPLIES, sizeof *link->replies);
    return link->replies ? 0 : DRAIL_ENOMEM;
}

int link_reply(struct link *link, enum reply_kind kind, const struct wire *wire,
               const void *payload, uint8_t bytes)
{
    int rc = link_may_reply(link);
    if (rc)
        return rc;
    struct reply *reply = &link->replies[kind];
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
    link->credits--;
    return link_reply(link, REPLY_WITHDRAWN, wire, NULL, 0);
}

int link_replied(const struct link *link, enum reply_kind kind)
{
    if (link->replies && !link->replies[kind].due)
        return 1;
    return link->state >= LINK_DOWN ? link->error : 0;
}

bool link_settled(struct link *link)
{
    if ((link->state != LINK_UP && link->state != LINK_LOST) ||
        link->retired == link->posted)
        return true;
    /* the last DTOs are suppressed: one with an event tells of them */
    if (link->signalled != link->posted && has_room(link)) {
        struct wire wire = {.type = WIRE_CREDIT};
        post_message(link, &wire, NULL, NULL, 0, &(struct completion){0});
    }
    return false;
}
