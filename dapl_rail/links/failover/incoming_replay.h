/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a link brings for another link to the same peer, or about it:
 * those whose header names a lane. */
#ifndef DRAIL_LINKS_FAILOVER_INCOMING_REPLAY_H
#define DRAIL_LINKS_FAILOVER_INCOMING_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

struct peer;
struct slot;

struct incoming {
    uint32_t arrived; /* carried messages, of the present EP */
    bool ack_due;
    uint16_t deferred; /* number of the first deferred slot, or 0 */
};

/* Handles the message in the slot. While several threads are at work it is
 * deferred, as it concerns another rail. NULL, or what is wrong with it. */
const char *incoming_replay_arrived(struct slot *slot);
/* Handles the deferred messages of the peer. */
void incoming_replay_deferred(struct peer *peer);

#endif
