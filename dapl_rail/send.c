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

static int message_send(drail_t *t, struct peer *peer, unsigned rail,
                        struct wire *wire, const void *payload, size_t bytes)
{
    struct sending s = {peer_link(peer, rail, 0), wire, payload, bytes};
    int rc = 0;
    /* mostly there are a credit and room */
    if (s.link->state != LINK_UP || link_reserve(s.link))
        rc = links_reserve(t, peer, RAIL_BIT(rail), EP_BIT(0),
                           t->cfg.timeout_ms);
    if (rc)
        return rc;
    rc = link_send(s.link, wire, payload, bytes, NULL);
    if (rc == DRAIL_EAGAIN)
        rc = progress_wait_for(peer, try_send, &s, t->cfg.timeout_ms);
    if (rc < 0) {
        link_unreserve(s.link);
        return rc;
    }
    peer->mail->last = s.link;
    peer->mail->message_seq++;
    return 0;
}

/* Appends it to the last message to the peer. */
static bool try_append(struct peer *peer, unsigned rail,
                       const struct wire *wire, const void *payload,
                       size_t bytes)
{
    struct link *link = peer_link(peer, rail, 0);
    return link == peer->mail->last && link_append(link, wire, payload, bytes);
}

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
    if (bytes > eager_bytes(&t->rails[rail])) {
        rc = send_rendezvous(t, peer, buffer, bytes, mem);
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

/* The message that an earlier call has begun to read. */
static int receive_rest(drail_t *t, struct receiving *r)
{
    const struct reading *reading = r->peer->mail->reading;
    if (r->buffer != reading->buffer || r->capacity < reading->bytes)
        return fail(t, DRAIL_EINVAL,
                    "drail_recv: a message of %zu bytes is still being read "
                    "into the buffer of the call before",
                    reading->bytes);
    *r->received = reading->bytes;
    return await_reading(r);
}

/* Receives the next message, which has arrived. */
static int receive_next(drail_t *t, struct receiving *r)
{
    struct mailbox *mail = r->peer->mail;
    struct reorder *messages = &mail->messages;
    struct slot *slot = reorder_next(messages);
    const struct wire *wire = (const struct wire *)slot->data;
    size_t at = mail->at, bytes = message_bytes(slot, at);
    bool fits = bytes <= r->capacity && (r->buffer || !bytes);
    bool announced = wire->type == WIRE_RENDEZVOUS;
    bool placed = mail->placed == slot;
    int rc = 0;
    if (placed && mail->placed_at != r->buffer) /* its event came too late */
        return fail(t, DRAIL_EDAT,
                    "drail_recv: the next message is in the buffer of a call "
                    "that has failed");
    mail->placed = NULL;
    if (announced)
        rc = reading_start(t, r->peer, slot, fits ? r->buffer : NULL);
    else if (fits && bytes && !placed)
        slot_read(slot, at + sizeof *wire, r->buffer, bytes);
    if (rc)
        return rc; /* the message stays for the next call */
    mail->at = announced ? 0 : message_after(slot, at, bytes);
    if (!mail->at) {
        reorder_pop(messages, RAIL_BIT(slot->link->rail->index));
        slot_return_soon(slot);
    }

    *r->received = bytes;
    if (announced)
        rc = await_reading(r);
    if (!fits)
        return fail(t, DRAIL_ETRUNC,
                    "a message of %zu bytes for a buffer of %zu", bytes,
                    r->capacity);
    return rc;
}

static int receive(drail_t *t, struct receiving *r)
{
    struct mailbox *mail = r->peer->mail;
    struct message_wait w = {.peer = r->peer, .rails = mail->messages.likely};
    int rc = 0;
    bool reads = mail->reading && mail->reading->active;
    if (reads && mail->reading->buffer)
        return receive_rest(t, r);
    if (reads) /* a message that did not fit: its sender must be told */
        rc = await_reading(r);
    if (!w.rails)
        w.rails = engine_rails(t, peer_reach(r->peer));
    mail->buffer = r->buffer;
    mail->capacity = r->capacity;
    if (!rc)
        rc = progress_wait_on(&r->patience, message_await, &w);
    mail->buffer = NULL;
    return rc ? rc : receive_next(t, r);
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
    return outcome(t, peer, receive(t, &r), "drail_recv");
}
