/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-sided messages. Eager ones travel in slots; over rails that are polled,
 * somewhat longer ones in several. Still longer ones go by rendezvous:
 * the sender announces the message with a key, the receiver reads it over all
 * rails and sends a message back when it has finished. If that takes long, the
 * receiver reports progress now and then, because the sender sees nothing of
 * the reads.
 */
#ifndef DRAIL_MESSAGES_MESSAGE_H
#define DRAIL_MESSAGES_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/growing.h"
#include "dapl_rail/links/slots.h"
#include "dapl_rail/links/wire.h"

struct peer;

/* The argument of the first two functions below. */
struct message_wait {
    struct peer *peer;
    uint32_t rails;    /* may bring it */
    uint32_t finished; /* number of the rendezvous */
};

/* These are owed_t. The next message has arrived; drops withdrawn ones: */
int message_await(drail_t *t, void *arg, uint32_t *owed);
/* the peer has finished the rendezvous: */
int finished_owed(drail_t *t, void *arg, uint32_t *owed);
/* the rendezvous message has been read, and its sender told, which this does:
 */
int reading_advance(drail_t *t, void *arg, uint32_t *owed);

/* Length of the message at this place of the slot. */
static inline size_t message_bytes(const struct slot *slot, size_t at)
{
    struct wire wire;
    if (!at)
        return ((const struct wire *)slot->data)->bytes;
    slot_read(slot, at, &wire, sizeof wire);
    return wire.bytes;
}

/* Where the message after an eager one begins; 0: it is the slot's last one. */
static inline size_t message_after(const struct slot *slot, size_t at,
                                   size_t bytes)
{
    size_t end = at + sizeof(struct wire) + bytes;
    end += -end % GROWING_ALIGN;
    return end < slot->bytes ? end : 0;
}

/* Has the peer finished the last rendezvous to it, which has this number? */
bool message_finished(const struct peer *peer, uint32_t id);

/* Starts to read an announced message into a buffer, without waiting. buffer
 * NULL: reads nothing, only tells the sender that it need not wait. 0, or
 * DRAIL_ENOMEM: the message is still in the inbox. */
int reading_start(drail_t *t, struct peer *peer, struct slot *slot,
                  void *buffer);

/* Of link_handlers. */
const char *message_arrived(struct slot *slot);
const char *piece_arrived(struct slot *slot);
/* The buffer of the drail_recv() that waits for this message, if it fits there.
 * That call then returns this message, whatever else happens meanwhile. */
void *message_place(const struct slot *slot, size_t bytes);
const char *message_withdrawn(struct slot *slot);
const char *finished_arrived(struct slot *slot);

#endif
