/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_recv: eager messages, of which a slot may hold several; longer ones in
 * pieces or by rendezvous. */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/connection.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/message.h"
#include "dapl_rail/outcome.h"
#include "dapl_rail/platform/short_copy.h"
#include "providers/core/extensions.h"

/* A call of drail_recv(). */
struct receiving {
    struct peer *peer;
    void *buffer;
    size_t capacity, *received;
    bool strict;              /* the timeout is the caller's */
    struct patience patience; /* for the whole call */
    bool taken;               /* take_direct() has got the message */
    struct wire wire;         /* its header */
};

/* Waits until the message that is being read is complete. */
static int await_reading(struct receiving *r)
{
    r->patience.peer = r->strict ? NULL : r->peer;
    int rc = progress_wait_on(&r->patience, reading_advance, r->peer);
    r->patience.peer = NULL;
    return rc;
}

/* May this call go on with a message that an earlier call has begun to receive
 * into that buffer (NULL: it did not fit)? 0 or an error. */
static int resumes(drail_t *t, const struct receiving *r, const void *buffer,
                   size_t bytes)
{
    if (buffer && (r->buffer != buffer || r->capacity < bytes))
        return fail(t, DRAIL_EINVAL,
                    "drail_recv: a message of %zu bytes is still being read "
                    "into the buffer of the call before",
                    bytes);
    *r->received = bytes;
    return 0;
}

/* The last message of the slot has been received. */
static void slot_taken(struct mailbox *mail, struct slot *slot)
{
    reorder_pop(&mail->messages, RAIL_BIT(slot->link->rail->index));
    slot_return_soon(slot);
}

/* Receives the next piece of the present message, which has arrived. */
static int receive_piece(drail_t *t, struct receiving *r)
{
    struct mailbox *mail = r->peer->mail;
    struct partial *part = &mail->partial;
    struct slot *slot = reorder_next(&mail->messages);
    const struct wire *wire = (const struct wire *)slot->data;
    size_t bytes = slot->bytes - sizeof *wire;
    if (wire->type != WIRE_PIECE || wire->bytes != part->bytes ||
        wire->id != part->got) {
        link_down(slot->link, DRAIL_EDAT, "a malformed message arrived: piece");
        return fail(t, DRAIL_EDAT, "drail_recv: a piece is missing");
    }
    if (part->buffer)
        slot_read(slot, sizeof *wire, (char *)part->buffer + part->got, bytes);
    part->got += bytes;
    slot_taken(mail, slot);
    return 0;
}

/* Rails that may bring the next message. */
static uint32_t likely_rails(const drail_t *t, const struct peer *peer)
{
    uint32_t likely = peer->mail->messages.likely;
    return likely ? likely : engine_rails(t, peer_reach(peer));
}

static int truncated(drail_t *t, const struct receiving *r)
{
    return fail(t, DRAIL_ETRUNC, "a message of %zu bytes for a buffer of %zu",
                *r->received, r->capacity);
}

/* Receives an eager message, at its place in the slot. */
static int receive_eager(drail_t *t, struct receiving *r, struct slot *slot)
{
    struct mailbox *mail = r->peer->mail;
    size_t at = mail->at, bytes = message_bytes(slot, at);
    bool placed = mail->placed == slot;
    *r->received = bytes;
    if (placed && mail->placed_at != r->buffer) /* its event came too late */
        return fail(t, DRAIL_EDAT,
                    "drail_recv: the next message is in the buffer of a call "
                    "that has failed");
    mail->placed = NULL;
    bool fits = bytes <= r->capacity && (r->buffer || !bytes);
    if (fits && bytes && !placed)
        slot_read(slot, at + sizeof(struct wire), r->buffer, bytes);
    mail->at = message_after(slot, at, bytes);
    if (!mail->at)
        slot_taken(mail, slot);
    return fits ? 0 : truncated(t, r);
}

/* Looks for the next message, as long as a few polls of an EVD take. */
#define DIRECT_POLLS 256u

/* May an eager message of so many bytes go to the caller's buffer? */
static bool takes_eager(const struct receiving *r, size_t bytes)
{
    return r->wire.bytes == bytes && bytes <= r->capacity &&
           (r->buffer || !bytes) && !r->peer->mail->partial.bytes;
}

/* Copies a piece if it is the next one. Not the first: receive_long() looks
 * whether the message fits. */
static bool take_piece(const struct receiving *r, const void *piece,
                       size_t bytes)
{
    struct partial *part = &r->peer->mail->partial;
    if (!part->bytes || !part->buffer || r->wire.bytes != part->bytes ||
        r->wire.id != part->got || !bytes || bytes > part->bytes - part->got)
        return false;
    plain_copy((char *)part->buffer + part->got, piece, bytes);
    part->got += bytes;
    return true;
}

/* The dapl_take_message_t: copies an eager message that is the next one and
 * fits the buffer, or the next piece. */
static bool take_message(void *context, const void *message, size_t bytes)
{
    struct receiving *r = context;
    const struct wire *wire = &r->wire;
    if (bytes < sizeof *wire)
        return false;
    memcpy(&r->wire, message, sizeof *wire);
    atomic_signal_fence(memory_order_seq_cst); /* read once */
    const char *body = (const char *)message + sizeof *wire;
    bytes -= sizeof *wire;
    if (wire->lane || wire->seq != r->peer->mail->messages.next)
        return false;
    if (wire->type != WIRE_EAGER)
        return wire->type == WIRE_PIECE && take_piece(r, body, bytes);
    if (!takes_eager(r, bytes))
        return false;
    take_copy(r->buffer, body, bytes);
    return true;
}

/* The link that the next message can be taken from past the EVD; NULL: the
 * provider does not offer that, or a message waits in its slot. */
static struct link *direct_link(const struct receiving *r)
{
    const struct reorder *messages = &r->peer->mail->messages;
    uint32_t rails = messages->likely;
    if (!rails || rails & (rails - 1) || reorder_next(messages))
        return NULL;
    struct link *link = peer_link(r->peer, (unsigned)__builtin_ctz(rails), 0);
    return link && link->state == LINK_UP && link->rail->direct ? link : NULL;
}

/* Counts the message that was taken. */
static void count_taken(struct receiving *r, struct link *link)
{
    const char *wrong = arrival_direct(link, r->wire.credits);
    r->taken = true;
    *r->received = r->wire.bytes;
    reorder_pop(&r->peer->mail->messages, RAIL_BIT(link->rail->index));
    if (wrong)
        link_down(link, DRAIL_EDAT, "a malformed message arrived: %s", wrong);
}

static bool take_direct(struct receiving *r, unsigned polls)
{
    struct link *link = direct_link(r);
    if (!link)
        return false;
    slots_return_now(link->rail);
    if (!link->rail->direct->take(link->ep.handle, polls, take_message, r))
        return false;
    count_taken(r, link);
    return true;
}

/* patience.look */
static bool look_direct(drail_t *t, void *arg)
{
    (void)t;
    return take_direct(arg, DIRECT_POLLS);
}

/* Waits for the next message. */
static int await_next(drail_t *t, struct receiving *r)
{
    struct mailbox *mail = r->peer->mail;
    struct message_wait w = {.peer = r->peer,
                             .rails = likely_rails(t, r->peer)};
    mail->buffer = mail->partial.bytes ? NULL : r->buffer;
    mail->capacity = r->capacity;
    if (direct_link(r)) {
        r->patience.look = look_direct;
        r->patience.look_arg = r;
    }
    int rc = progress_wait_on(&r->patience, message_await, &w);
    r->patience.look = NULL;
    mail->buffer = NULL;
    return rc;
}

/* Most short messages are found here, without a wait. */
static bool take_at_once(drail_t *t, struct receiving *r)
{
    bool polls = t->spin.max_ns && r->patience.timeout_ms;
    return direct_link(r) && progress_may_skip(t) &&
           take_direct(r, polls ? DIRECT_POLLS : 1);
}

/* Waits for the next message or piece. r->taken: it has been taken; else it is
 * in its slot. */
static int next_arrives(drail_t *t, struct receiving *r)
{
    r->taken = false;
    return take_at_once(t, r) ? 0 : await_next(t, r);
}

/* Receives the pieces that are missing. */
static int receive_pieces(drail_t *t, struct receiving *r)
{
    struct partial *part = &r->peer->mail->partial;
    int rc = 0;
    while (!rc && part->got < part->bytes) {
        rc = next_arrives(t, r);
        if (!rc && !r->taken)
            rc = receive_piece(t, r);
        if (!r->strict) /* bytes have come: the timeout begins anew */
            r->patience.deadline = (struct deadline){0};
    }
    if (!rc)
        part->bytes = 0;
    return rc;
}

/* Begins to receive a longer one. */
static int receive_long(drail_t *t, struct receiving *r, struct slot *slot)
{
    struct mailbox *mail = r->peer->mail;
    const struct wire *wire = (const struct wire *)slot->data;
    bool announced = wire->type == WIRE_RENDEZVOUS;
    size_t bytes = wire->bytes;
    void *buffer = bytes <= r->capacity ? r->buffer : NULL;
    int rc;
    if (announced) {
        rc = reading_start(t, r->peer, slot, buffer);
        if (rc)
            return rc; /* the message stays for the next call */
        slot_taken(mail, slot);
    }
    *r->received = bytes;
    if (announced) {
        rc = await_reading(r);
    } else {
        mail->partial = (struct partial){.bytes = bytes, .buffer = buffer};
        rc = receive_pieces(t, r);
    }
    return buffer || !bytes ? rc : truncated(t, r);
}

static int receive_next(drail_t *t, struct receiving *r)
{
    int rc = next_arrives(t, r);
    if (rc || r->taken)
        return rc;
    struct slot *slot = reorder_next(&r->peer->mail->messages);
    return ((const struct wire *)slot->data)->type == WIRE_EAGER
               ? receive_eager(t, r, slot)
               : receive_long(t, r, slot);
}

static int receive(drail_t *t, struct receiving *r)
{
    const struct reading *reading = r->peer->mail->reading;
    const struct partial *part = &r->peer->mail->partial;
    int rc = 0;
    /* a message that did not fit is dropped: its sender must be told */
    if (reading && reading->active) {
        rc = resumes(t, r, reading->buffer, reading->bytes);
        rc = rc ? rc : await_reading(r);
        if (rc || reading->buffer)
            return rc;
    } else if (part->bytes) {
        bool kept = part->buffer;
        rc = resumes(t, r, part->buffer, part->bytes);
        rc = rc ? rc : receive_pieces(t, r);
        if (rc || kept)
            return rc;
    }
    return receive_next(t, r);
}

int drail_recv(drail_t *t, unsigned rank, void *buffer, size_t capacity,
               size_t *received, int timeout_ms)
{
    int rc;
    size_t ignored;
    if (!t)
        return DRAIL_EINVAL;
    struct receiving r = {
        .buffer = buffer,
        .capacity = capacity,
        .received = received ? received : &ignored,
        .strict = timeout_ms >= 0,
        .patience = {.t = t, .timeout_ms = timeout_or(t, timeout_ms)},
    };
    struct peer *peer = r.peer = peer_get(t, rank, r.patience.timeout_ms, &rc);
    if (!peer)
        return rc;
    peer->mail->sends = false;
    return outcome(t, peer, receive(t, &r), "drail_recv");
}
