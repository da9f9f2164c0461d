/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_send: eager messages, alone or in one request with others; longer ones
 * in pieces or by rendezvous. */
#include <stdatomic.h>
#include <stdbool.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/connection.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/engine/reserve.h"
#include "dapl_rail/engine/teardown.h"
#include "dapl_rail/job/job.h"
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
static bool try_append(struct peer *peer, const struct link *link,
                       const struct wire *wire, const void *payload,
                       size_t bytes)
{
    struct link *last = peer->mail->last;
    return link == last && last->growing.room &&
           link_append(last, wire, payload, bytes);
}

/* Most short messages go this way, where the provider offers it. */
static bool try_direct(struct peer *peer, struct link *link,
                       const void *payload, size_t bytes)
{
    struct mailbox *mail = peer->mail;
    if ((link == mail->last && link->growing.room) ||
        !link_try_send_direct(link, mail->message_seq, payload, bytes))
        return false;
    mail->last = link;
    mail->message_seq++;
    return true;
}

static int send_eager(drail_t *t, struct peer *peer, unsigned rail,
                      const void *buffer, size_t bytes)
{
    struct wire wire = {
        .type = WIRE_EAGER, .seq = peer->mail->message_seq, .bytes = bytes};
    return try_append(peer, peer_link(peer, rail, 0), &wire, buffer, bytes)
               ? 0
               : message_send(t, peer, rail, &wire, buffer, bytes);
}

/* ------------------------------------------------------------ in pieces */

/* The longest message that goes in pieces, as far as credits do not matter.
 * Pieces keep one rail busy without a pause; over several rails that are
 * polled, rendezvous is sooner for a message that is alone: it stripes. */
static size_t longest_in_pieces(const struct peer *peer,
                                const struct rail *rail, bool registered,
                                bool row)
{
    if (rail->info.is_polled)
        return row || !several_rails(peer_reach(peer)) ? PIECES_BYTES : 0;
    return registered ? 0 : PIECES_INLINE_BYTES;
}

/* They take at most a quarter of the credits. */
static bool goes_in_pieces(const drail_t *t, const struct peer *peer,
                           unsigned rail, size_t bytes, bool registered,
                           bool row)
{
    size_t most = piece_bytes(&t->rails[rail]);
    size_t longest = longest_in_pieces(peer, &t->rails[rail], registered, row);
    return most && bytes <= longest && t->cfg.depth >= 4 * longest / most;
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
    const size_t most = piece_bytes(&t->rails[rail]);
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

/* Mostly without a call. */
static inline bool is_eager(const drail_t *t, unsigned rail, size_t bytes)
{
    return (bytes <= EAGER_BYTES && t->cfg.eager_bytes == DRAIL_EAGER_AUTO) ||
           bytes <= eager_bytes(&t->rails[rail]);
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
    if (!is_eager(t, rail, bytes)) {
        rc = goes_in_pieces(t, peer, rail, bytes, mem != NULL, row)
                 ? send_pieces(t, peer, rail, buffer, bytes)
                 : send_rendezvous(t, peer, buffer, bytes, mem);
        return outcome(t, peer, rc, "drail_send");
    }
    if (try_direct(peer, peer_link(peer, rail, 0), buffer, bytes))
        return 0;
    rc = send_eager(t, peer, rail, buffer, bytes);
    return outcome(t, peer, rc, "drail_send");
}
