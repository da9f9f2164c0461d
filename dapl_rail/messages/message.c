/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-sided messages: eager ones travel in the slots; longer ones are
 * announced with a key, read by the receiver over all rails, and finished by
 * a message back.
 */
#include <string.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/engine.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/transfer.h"
#include "dapl_rail/handle.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/links/wire.h"
#include "dapl_rail/memory/region.h"
#include "dapl_rail/messages/inbox.h"
#include "dapl_rail/rails/rail.h"
#include "dapl_rail/stripe/weights.h"

struct message_wait {
    struct peer *peer;
    uint32_t rails;
    uint32_t finished; /* rendezvous that must be */
};

static int arrived_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct message_wait *w = arg;
    (void)t;
    *owed = w->rails;
    if (inbox_ready(&w->peer->messages))
        return 1;
    return atomic_load_explicit(&w->peer->error, memory_order_relaxed);
}

static int finished_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct message_wait *w = arg;
    (void)t;
    *owed = w->rails;
    if ((int32_t)(atomic_load_explicit(&w->peer->finished,
                                       memory_order_acquire) -
                  w->finished) >= 0)
        return 1;
    return atomic_load_explicit(&w->peer->error, memory_order_relaxed);
}

/* The rail that a short message takes. */
static unsigned short_rail(drail_t *t)
{
    drail_chunk_t chunks[DRAIL_MAX_RAILS];
    return cut(t, 0, chunks) > 0 ? chunks[0].rail : 0;
}

static int message_send(drail_t *t, struct peer *peer, unsigned rail,
                        struct wire *wire, const void *payload, size_t bytes)
{
    int rc = links_reserve(t, peer, RAIL_BIT(rail), t->cfg.timeout_ms);
    if (!rc)
        rc = link_send(peer->links[rail], wire, payload, bytes, NULL);
    return rc;
}

/* A region of the buffer that the peer may read. */
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

static int send_rendezvous(drail_t *t, struct peer *peer, const void *buffer,
                           size_t bytes, drail_mem_t *given)
{
    drail_mem_t *mem;
    drail_key_t key;
    unsigned rail = short_rail(t);
    int rc = readable(t, buffer, bytes, given, &mem);
    if (rc)
        return rc;
    drail_mem_key(mem, &key);
    key.address = (uintptr_t)buffer;
    key.bytes = bytes;
    struct wire wire = {
        .type = WIRE_RENDEZVOUS, .seq = peer->message_seq, .bytes = bytes};
    rc = message_send(t, peer, rail, &wire, &key, sizeof key);
    if (!rc) {
        peer->message_seq++;
        struct message_wait w = {.peer = peer,
                                 .rails = RAIL_BIT(rail),
                                 .finished = ++peer->rendezvous};
        rc = progress_wait(t, finished_owed, &w, t->cfg.timeout_ms);
    }
    if (!given)
        drail_mem_release(mem);
    return rc;
}

int drail_send(drail_t *t, unsigned rank, const void *buffer, size_t bytes,
               drail_mem_t *mem)
{
    int rc;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    if (bytes && !buffer)
        return fail(t, DRAIL_EINVAL, "drail_send: no buffer");
    if (bytes > t->cfg.eager_bytes) {
        rc = send_rendezvous(t, peer, buffer, bytes, mem);
        return outcome(t, peer, rc, "drail_send");
    }
    struct wire wire = {
        .type = WIRE_EAGER, .seq = peer->message_seq, .bytes = bytes};
    rc = message_send(t, peer, short_rail(t), &wire, buffer, bytes);
    if (!rc)
        peer->message_seq++;
    return outcome(t, peer, rc, "drail_send");
}

/* Reads the announced message into the buffer. */
static int read_announced(drail_t *t, struct peer *peer, const drail_key_t *key,
                          void *buffer, size_t bytes)
{
    drail_mem_t *mem;
    drail_req_t req;
    drail_xfer_t xfer = {.local = buffer, .remote = key, .bytes = bytes};
    int rc = drail_mem_register(t, buffer, bytes, DRAIL_ACCESS_LOCAL, &mem);
    if (rc)
        return rc;
    xfer.local_mem = mem;
    rc = drail_get(t, peer->rank, &xfer, 0, &req);
    if (!rc)
        rc = drail_wait(t, &req, -1);
    drail_mem_release(mem);
    return rc;
}

int drail_recv(drail_t *t, unsigned rank, void *buffer, size_t capacity,
               size_t *received, int timeout_ms)
{
    int rc;
    drail_key_t key;
    struct peer *peer = peer_get(t, rank, &rc);
    if (!peer)
        return rc;
    struct message_wait w = {.peer = peer, .rails = peer->messages.likely};
    if (!w.rails)
        w.rails = engine_rails(t);
    rc = progress_wait(t, arrived_owed, &w, timeout_or(t, timeout_ms));
    if (rc)
        return outcome(t, peer, rc, "drail_recv");

    struct slot *slot = inbox_next(&peer->messages)->slot;
    struct link *link = slot->link;
    const struct wire *wire = (const struct wire *)slot->data;
    size_t bytes = wire->bytes;
    bool fits = bytes <= capacity && (buffer || !bytes);
    bool announced = wire->type == WIRE_RENDEZVOUS;
    if (announced)
        memcpy(&key, wire + 1, sizeof key);
    else if (fits && bytes)
        memcpy(buffer, wire + 1, bytes);
    inbox_pop(&peer->messages);
    slot_post(slot);
    link_owe(link);

    if (announced && fits)
        rc = read_announced(t, peer, &key, buffer, bytes);
    if (announced && !rc) {
        struct wire finished = {.type = WIRE_FINISHED};
        rc = message_send(t, peer, link->rail->index, &finished, NULL, 0);
    }
    if (received)
        *received = bytes;
    if (rc)
        return outcome(t, peer, rc, "drail_recv");
    return fits ? 0
                : fail(t, DRAIL_ETRUNC,
                       "a message of %zu bytes for a buffer of %zu", bytes,
                       capacity);
}
