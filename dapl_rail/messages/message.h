/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two-sided messages: eager ones travel in the slots; longer ones are
 * announced with a key, read by the receiver over all rails, and finished by
 * a message back. Where that takes long, the receiver says so now and then, for
 * its sender sees nothing of the reads.
 */
#ifndef DRAIL_MESSAGES_MESSAGE_H
#define DRAIL_MESSAGES_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct peer;
struct slot;

/* What an operation of two-sided messages waits for. */
struct message_wait {
    struct peer *peer;
    uint32_t rails;    /* that may bring it */
    uint32_t finished; /* number of the rendezvous */
    bool looked; /* whether the next message has been withdrawn meanwhile */
};

/* These are owed_t. The next message is there: */
int message_await(drail_t *t, void *arg, uint32_t *owed);
/* the peer has finished the rendezvous: */
int finished_owed(drail_t *t, void *arg, uint32_t *owed);
/* the message that is being read is complete, and its sender told: */
int reading_advance(drail_t *t, void *arg, uint32_t *owed);

/* Has the peer finished the last rendezvous, which has this number? */
bool message_finished(const struct peer *peer, uint32_t id);

/* Starts to read an announced message into a buffer, without waiting. NULL:
 * only tells its sender that it need not wait. 0, or DRAIL_ENOMEM: it has not
 * been taken. */
int reading_start(drail_t *t, struct peer *peer, struct slot *slot,
                  void *buffer);

/* Of link_handlers. */
const char *message_arrived(struct slot *slot);
const char *message_withdrawn(struct slot *slot);
const char *finished_arrived(struct slot *slot);

#endif
