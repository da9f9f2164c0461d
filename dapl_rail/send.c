/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_send, drail_recv: two-sided messages. */
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/connection.h"
#include "dapl_rail/engine/teardown.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/reserve.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/message.h"
#include "dapl_rail/messages/pick_rail.h"
#include "dapl_rail/messages/transfer.h"
#include "dapl_rail/outcome.h"
#include "dapl_rail/stripe/tuning/cut.h"

/* -------------------------------------------------------------- sending */

/* A message that has a credit; sent when there is room. */
struct sending {
    struct link *link;
    struct wire *wire;
    const void *payload;
    size_t bytes;
};

static int try_send(drail_t *t, void *arg, uint32_t *owed)
{
    const struct sending *s = arg;
    (void)t;
    *owed = RAIL_BIT(s->link->rail->index);
    int rc = link_send(s->link, s->wire, s->payload, s->bytes, NULL);
    return rc == DRAIL_EAGAIN ? 0 : rc ? rc : 1;
}

/* Sends a message that has a credit. */
static int post_message(struct peer *peer, struct link *link, struct wire *wire,
                        const void *payload, size_t bytes)
{
    struct sending s = {link, wire, payload, bytes};
    int rc = link_send(link, wire, payload, bytes, NULL);
    if (rc == DRAIL_EAGAIN)
        rc = progress_wait_for(peer, try_send, &s, peer->owner->cfg.timeout_ms);
    if (rc < 0) {
        link_unreserve(link);
        return rc;
    }
    peer->mail->last = link;
    peer->mail->message_seq++;
    return 0;
}

static int message_send(drail_t *t, struct peer *peer, unsigned rail,
                        struct wire *wire, const void *payload, size_t bytes)
{
    struct link *link = peer_link(peer, rail, 0);
    int rc = 0;
    /* mostly there are a credit and room */
    if (link->state != LINK_UP || link_reserve(link))
        rc = links_reserve(t, peer, RAIL_BIT(rail), EP_BIT(0),
                           t->cfg.timeout_ms);
    return rc ? rc : post_message(peer, link, wire, payload, bytes);
}

/* Appends it to the last message to the peer. */
static bool try_append(struct peer *peer, unsigned rail,
                       const struct wire *wire, const void *payload,
                       size_t bytes)
{
    struct link *link = peer_link(peer, rail, 0);
    return link == peer->mail->last && link_append(link, wire, payload, bytes);
}

/* ------------------------------------------------------------ in pieces */

/* Does the message go in pieces? One rail alone is busy all the time then.
 * Several carry a message that is alone sooner by rendezvous. */
static bool goes_in_pieces(const drail_t *t, const struct peer *peer,
                           unsigned rail, size_t bytes, bool row)
{
    return t->cfg.eager_bytes == DRAIL_EAGER_AUTO &&
           t->rails[rail].info.is_polled &&
           bytes <= PIECES_MAX * EAGER_POLLED_BYTES &&
           t->cfg.depth >= 4 * PIECES_MAX &&
           (row || !several_rails(peer_reach(peer)));
}

/* Credits and room for all pieces, before the first one leaves. */
struct credits_wanted {
    struct peer *peer;
    struct link *link;
    unsigned got, all;
};

static int try_reserve(drail_t *t, void *arg, uint32_t *owed)
{
    struct credits_wanted *w = arg;
    int rc = atomic_load_explicit(&w->peer->error, memory_order_relaxed);
    (void)t;
    *owed = RAIL_BIT(w->link->rail->index);
    while (!rc && w->got < w->all && !(rc = link_reserve(w->link)))
        w->got++;
    if (rc)
        return rc == DRAIL_EAGAIN ? 0 : rc;
    int room = link_room(w->link);
    return room < 0 ? room : room >= (int)w->all;
}

static void unreserve(struct link *link, unsigned n)
{
    while (n--)
        link_unreserve(link);
}

static int send_pieces(drail_t *t, struct peer *peer, unsigned rail,
                       const unsigned char *buffer, size_t bytes)
{
    const size_t most = EAGER_POLLED_BYTES;
    struct credits_wanted w = {peer, peer_link(peer, rail, 0), 0,
                               (unsigned)((bytes + most - 1) / most)};
    int rc = progress_wait_for(peer, try_reserve, &w, t->cfg.timeout_ms);
    if (rc < 0) {
        unreserve(w.link, w.got);
        return rc;
    }
    size_t at = 0;
    for (; at < bytes; at += most) {
        struct wire wire = {.type = WIRE_PIECE,
                            .seq = peer->mail->message_seq,
                            .id = (uint32_t)at,
                            .bytes = bytes};
        size_t left = bytes - at;
        rc = post_message(peer, w.link, &wire, buffer + at,
                          left < most ? left : most);
        w.got--;
        if (rc)
            break;
    }
    unreserve(w.link, w.got);
    return rc && at ? links_end(t, peer, rc, "a message was sent in part") : rc;
}

/* ------------------------------------------------------------ rendezvous */

/* A handle of the buffer that lets the peer read it. */
static int readable(drail_t *t, const void *buffer, size_t bytes,
                    drail_mem_t *given, drail_mem_t **mem)
{
    drail_xfer_t whole = {
        .local = (void *)(uintptr_t)buffer, .local_mem = given, .bytes = bytes};
    drail_key_t any = {.bytes = bytes, .nrails = t->nrails};
    if (!given)
        return drail_mem_register(
            t, (void *)(uintptr_t)buffer, bytes,
            DRAIL_ACCESS_REMOTE_READ | DRAIL_ACCESS_READ_ONLY, mem);
    whole.remote = &any;
    int rc = xfer_check(t, &whole);
    if (!rc && !(given->access & DRAIL_ACCESS_REMOTE_READ))
        rc = fail(t, DRAIL_EINVAL,
                  "drail_send: the memory lacks DRAIL_ACCESS_REMOTE_READ");
    *mem = given;
    return rc;
}

/*
 * The peer has not read the message in time. If it has not begun, it is told
 * not to. If it has, its reads fail because the registration ends. If the
 * registration stays, being the caller's or shared, the connection ends
 * instead, as after any other error.
 */
static void withdraw(drail_t *t, struct peer *peer, unsigned rail, uint32_t seq,
                     bool stays, int code)
{
    const struct wire wire = {.type = WIRE_WITHDRAWN, .seq = seq};
    bool late = code == DRAIL_ETIMEOUT || code == DRAIL_EINTR;
    bool goes = !late || stays;
    if (goes || link_withdraw(peer_link(peer, rail, 0), &wire))
        links_end(t, peer, code, "an announced message was not read in time");
}

static int announce(drail_t *t, struct peer *peer, const void *buffer,
                    size_t bytes, const drail_mem_t *mem, bool given)
{
    struct mailbox *mail = peer->mail;
    unsigned rail = short_rail(t, peer_reach(peer));
    drail_key_t key;
    drail_mem_key(mem, &key);
    key.address = (uintptr_t)buffer;
    key.bytes = bytes;
    struct wire wire = {.type = WIRE_RENDEZVOUS,
                        .seq = mail->message_seq,
                        .id = ++mail->announced,
                        .bytes = bytes};
    int rc = message_send(t, peer, rail, &wire, &key, sizeof key);
    if (rc)
        return rc;
    struct message_wait w = {
        .peer = peer, .rails = RAIL_BIT(rail), .finished = wire.id};
    rc = progress_wait_for(peer, finished_owed, &w, t->cfg.timeout_ms);
    if (rc && !message_finished(peer, wire.id))
        withdraw(t, peer, rail, wire.seq, given || !region_ends(mem->region),
                 rc);
    return rc;
}

static int send_rendezvous(drail_t *t, struct peer *peer, const void *buffer,
                           size_t bytes, drail_mem_t *given)
{
    drail_mem_t *mem;
    int rc = readable(t, buffer, bytes, given, &mem);
    if (rc)
        return rc;
    rc = announce(t, peer, buffer, bytes, mem, given != NULL);
    if (given || !drail_mem_release(mem) || !rc)
        return rc;
    /* the peer is still inside: end its connection */
    links_end(t, peer, rc, "an announced message is still being read");
    drail_mem_release(mem);
    return rc;
}

int drail_send(drail_t *t, unsigned rank, const void *buffer, size_t bytes,
               drail_mem_t *mem)
{
    int rc;
    struct peer *peer = peer_get(t, rank, -1, &rc);
    if (!peer)
        return rc;
    if (bytes && !buffer)
        return fail(t, DRAIL_EINVAL, "drail_send: no buffer");
    unsigned rail = pick_rail(peer, peer_reach(peer), bytes);
    bool row = peer->mail->sends;
    peer->mail->sends = true;
    if (bytes > eager_bytes(&t->rails[rail])) {
        rc = goes_in_pieces(t, peer, rail, bytes, row)
                 ? send_pieces(t, peer, rail, buffer, bytes)
                 : send_rendezvous(t, peer, buffer, bytes, mem);
        return outcome(t, peer, rc, "drail_send");
    }
    struct wire wire = {
        .type = WIRE_EAGER, .seq = peer->mail->message_seq, .bytes = bytes};
    if (try_append(peer, rail, &wire, buffer, bytes))
        return 0;
    rc = message_send(t, peer, rail, &wire, buffer, bytes);
    return outcome(t, peer, rc, "drail_send");
}

/* ------------------------------------------------------------- receiving */

/* A call of drail_recv(). */
struct receiving {
    struct peer *peer;
    void *buffer;
    size_t capacity, *received;
    bool strict;              /* the timeout is the caller's */
    struct patience patience; /* for the whole call */
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

/* Receives the pieces that are missing. */
static int receive_pieces(drail_t *t, struct receiving *r)
{
    struct partial *part = &r->peer->mail->partial;
    struct message_wait w = {.peer = r->peer,
                             .rails = likely_rails(t, r->peer)};
    int rc = 0;
    while (!rc && part->got < part->bytes) {
        rc = progress_wait_on(&r->patience, message_await, &w);
        if (!rc)
            rc = receive_piece(t, r);
    }
    if (!rc)
        part->bytes = 0;
    return rc;
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

/* Waits for the next message. */
static int await_next(drail_t *t, struct receiving *r)
{
    struct mailbox *mail = r->peer->mail;
    struct message_wait w = {.peer = r->peer,
                             .rails = likely_rails(t, r->peer)};
    mail->buffer = r->buffer;
    mail->capacity = r->capacity;
    int rc = progress_wait_on(&r->patience, message_await, &w);
    mail->buffer = NULL;
    return rc;
}

static int receive_next(drail_t *t, struct receiving *r)
{
    int rc = await_next(t, r);
    if (rc)
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
