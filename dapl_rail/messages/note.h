/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications. */
#ifndef DRAIL_MESSAGES_NOTE_H
#define DRAIL_MESSAGES_NOTE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct completion;
struct link;
struct peer;
struct slot;

struct note_wait {
    struct peer *peer;
    uint32_t rails; /* expected as long as no part has come */
};
int note_owed(drail_t *t, void *arg, uint32_t *owed);
/* Sends the rail's part of a notification; a credit has been reserved.
 * DRAIL_EAGAIN: no room. */
int note_send(struct link *link, uint32_t seq, uint32_t id, uint32_t rails,
              const struct completion *done);
/* Delivers the notification that is ready. */
uint32_t note_deliver(struct peer *peer);
/* Of link_handlers. */
const char *note_arrived(struct slot *slot);

#endif
