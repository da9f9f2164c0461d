/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl_rail/messages/message.h"

#include <string.h>

#include "dapl_rail/base/alloc.h"
#include "dapl_rail/base/error.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/arrival.h"
#include "dapl_rail/links/credits.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/messages/mailbox.h"
#include "dapl_rail/messages/transfer.h"

#define PROGRESS_NS (50 * MS) /* between reports of progress */

/* -------------------------------------------------------------- arrivals */

/* Are the messages behind the first one, which is eager, whole? */
static bool are_whole(const struct slot *slot, size_t bytes)
{
    size_t at = 0;
    while ((at = message_after(slot, at, bytes))) {
        struct wire wire;
        if (slot->bytes - at < sizeof wire)
            return false;
        slot_read(slot, at, &wire, sizeof wire);
        if (wire.type != WIRE_EAGER ||
            wire.bytes > slot->bytes - at - sizeof wire)
            return false;
        bytes = wire.bytes;
    }
    return true;
}

const char *message_arrived(struct slot *slot)
{
    const struct wire *wire = (const struct wire *)slot->data;
    bool eager = wire->type == WIRE_EAGER;
    uint64_t room = eager ? wire->bytes : sizeof(drail_key_t);
    if (room > slot->bytes - sizeof *wire ||
        (eager && !are_whole(slot, wire->bytes)))
        return "length of a message";
    if (reorder_put(&slot->link->peer->mail->messages, wire->seq, slot))
        return "sequence of a message";
    return NULL; /* the slot waits for drail_recv */
}

/* receive_piece() looks whether it continues the piece before. */
const char *piece_arrived(struct slot *slot)
{
    const struct wire *wire = (const struct wire *)slot->data;
    if (slot->bytes == sizeof *wire || wire->id > wire->bytes ||
        slot->bytes - sizeof *wire > wire->bytes - wire->id)
        return "length of a piece";
    if (reorder_put(&slot->link->peer->mail->messages, wire->seq, slot))
        return "sequence of a piece";
    return NULL;
}

void *message_place(const struct slot *slot, size_t bytes)
{
    const struct wire *wire = (const struct wire *)slot->data;
    struct mailbox *mail = slot->link->peer->mail;
    void *buffer = mail->buffer;
    if (!buffer || wire->type != WIRE_EAGER || wire->lane ||
        wire->seq != mail->messages.next ||
        wire->bytes != bytes - sizeof *wire || wire->bytes > mail->capacity)
        return NULL;
    mail->buffer = NULL;
    mail->placed = slot;
    mail->placed_at = buffer;
    return buffer;
}

static unsigned type_of(const struct slot *slot)
{
    return ((const struct wire *)slot->data)->type;
}

/* The sender has withdrawn the message. If it is being read, that fails. */
const char *message_withdrawn(struct slot *slot)
{
    const struct wire *wire = (const struct wire *)slot->data;
    struct slot *about =
        reorder_find(&slot->link->peer->mail->messages, wire->seq);
    if (about && type_of(about) != WIRE_RENDEZVOUS)
        return "withdrawal of a message";
    if (about)
        ((struct wire *)about->data)->type = WIRE_WITHDRAWN;
    slot_return(slot, true);
    return NULL;
}

const char *finished_arrived(struct slot *slot)
{
    struct mailbox *mail = slot->link->peer->mail;
    const struct wire *wire = (const struct wire *)slot->data;
    uint64_t last = atomic_load_explicit(&mail->finished, memory_order_relaxed);
    /* not if it is about one that was withdrawn */
    if (wire->id == mail->announced && wire->id != (uint32_t)(last >> 32))
        atomic_store_explicit(&mail->finished,
                              (uint64_t)wire->id << 32 | wire->seq,
                              memory_order_release);
    slot_return(slot, false);
    return NULL;
}

/* ----------------------------------------------------------------- waits */

/* Drops withdrawn messages. Returns the next one that is there, or NULL. */
static const struct slot *skip_withdrawn(struct reorder *messages)
{
    struct slot *slot;
    while ((slot = reorder_next(messages)) && type_of(slot) == WIRE_WITHDRAWN) {
        reorder_pop(messages, RAIL_BIT(slot->link->rail->index));
        slot_return(slot, true);
    }
    return slot;
}

/* The same. If it is a rendezvous, first handles all events that are there: one
 * of them may withdraw it. */
static const struct slot *next_message(drail_t *t, struct reorder *messages)
{
    const struct slot *slot = skip_withdrawn(messages);
    if (!slot || type_of(slot) != WIRE_RENDEZVOUS)
        return slot;
    for (unsigned r = 0; r < t->nrails; r++)
        rail_catch_up(&t->rails[r]);
    return skip_withdrawn(messages);
}

int message_await(drail_t *t, void *arg, uint32_t *owed)
{
    const struct message_wait *w = arg;
    *owed = w->rails;
    return next_message(t, &w->peer->mail->messages)
               ? 1
               : atomic_load_explicit(&w->peer->error, memory_order_relaxed);
}

bool message_finished(const struct peer *peer, uint32_t id)
{
    uint64_t last =
        atomic_load_explicit(&peer->mail->finished, memory_order_acquire);
    return (uint32_t)(last >> 32) == id;
}

int finished_owed(drail_t *t, void *arg, uint32_t *owed)
{
    const struct message_wait *w = arg;
    (void)t;
    uint64_t last =
        atomic_load_explicit(&w->peer->mail->finished, memory_order_acquire);
    *owed = w->rails;
    if ((uint32_t)(last >> 32) == w->finished)
        return last & UINT32_MAX ? (int32_t)last : 1;
    return atomic_load_explicit(&w->peer->error, memory_order_relaxed);
}

/* --------------------------------------------------------------- reading */

/* Begins to read into the buffer. */
static int read_into(drail_t *t, struct peer *peer, void *buffer)
{
    struct reading *reading = peer->mail->reading;
    int rc = 0;
    /* memory of drail_mem_alloc() and the like is registered already */
    reading->mem =
        drail_mem_find(t, buffer, reading->bytes, DRAIL_ACCESS_LOCAL);
    if (!reading->mem)
        rc = drail_mem_register(t, buffer, reading->bytes, DRAIL_ACCESS_LOCAL,
                                &reading->mem);
    if (rc)
        return rc;
    reading->xfer = (drail_xfer_t){.local = buffer,
                                   .local_mem = reading->mem,
                                   .remote = &reading->key,
                                   .bytes = reading->bytes};
    rc = xfer_check(t, &reading->xfer);
    if (rc)
        return rc;
    transfer_init(&reading->transfer, peer, &reading->xfer, VERB_READ);
    reading->transfer.reports = true;
    transfer_cut(t, &reading->transfer, 0);
    rc = transfer_try_start(t, &reading->transfer, &reading->req);
    reading->posting = rc == DRAIL_EAGAIN;
    return reading->posting ? 0 : rc;
}

int reading_start(drail_t *t, struct peer *peer, struct slot *slot,
                  void *buffer)
{
    struct reading *reading = peer->mail->reading;
    if (!reading)
        reading = peer->mail->reading = alloc_lines(sizeof *reading);
    if (!reading)
        return fail(t, DRAIL_ENOMEM, "out of memory");
    const struct wire *wire = (const struct wire *)slot->data;
    reading->active = true;
    reading->posting = false;
    reading->finished = false;
    reading->buffer = buffer;
    reading->bytes = wire->bytes;
    reading->id = wire->id;
    reading->link = slot->link;
    reading->completed = reading->told_ns = 0;
    reading->mem = NULL;
    slot_read(slot, sizeof *wire, &reading->key, sizeof reading->key);
    req_start(&reading->req, peer, 0, 1);
    int rc = buffer ? read_into(t, peer, buffer) : 0;
    if (rc)
        atomic_store(&reading->req.status, rc);
    return 0;
}

/* Reports progress to the sender if there is any, but not often. */
static void report_progress(drail_t *t, const struct peer *peer)
{
    struct reading *reading = peer->mail->reading;
    uint64_t completed = peer_completed(peer, peer->rails);
    if (completed <= reading->completed)
        return;
    uint64_t now = job_now(t->job);
    if (!reading->told_ns) /* the reads have begun */
        reading->told_ns = now;
    else if (now - reading->told_ns < PROGRESS_NS ||
             !link_send_progress(reading->link))
        return;
    else
        reading->told_ns = now;
    reading->completed = completed + 1; /* the report itself */
}

/* Tells the sender that its message has been read, or why not. */
static void finish(struct reading *reading, int status)
{
    const struct wire wire = {
        .type = WIRE_FINISHED, .id = reading->id, .seq = (uint32_t)status};
    reading->finished = true;
    int rc = link_reply(reading->link, REPLY_FINISHED, &wire, NULL, 0);
    if (rc)
        link_down(reading->link, rc, "out of memory");
}

int reading_advance(drail_t *t, void *arg, uint32_t *owed)
{
    struct reading *reading = ((struct peer *)arg)->mail->reading;
    if (!reading->active) /* called again */
        return reading->result;
    if (reading->posting)
        reading->posting =
            transfer_continue(t, &reading->transfer) == DRAIL_EAGAIN;
    int status = req_owed(t, &reading->req, owed);
    if (status == 0) {
        report_progress(t, arg);
        return 0;
    }
    if (!reading->finished)
        finish(reading, status < 0 ? status : 0);
    *owed = RAIL_BIT(reading->link->rail->index);
    int told = link_replied(reading->link, REPLY_FINISHED);
    if (told == 0)
        return 0;
    reading->active = false;
    if (reading->mem)
        drail_mem_release(reading->mem);
    reading->mem = NULL;
    reading->result = status < 0 ? status : told;
    return reading->result;
}
