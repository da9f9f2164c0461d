/* SPDX-License-Identifier: BSD-3-Clause */
/* Notifications. */
#ifndef DRAIL_MESSAGES_NOTE_H
#define DRAIL_MESSAGES_NOTE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/wire.h"

struct completion;
struct link;
struct peer;
struct slot;

/* A notification, of which these EPs of each of these rails carry a part. */
struct note {
    uint32_t seq, id, rails, eps;
};

struct note_wait {
    struct peer *peer;
    uint32_t rails; /* expected as long as no part has come */
};
int note_owed(drail_t *t, void *arg, uint32_t *owed);
/* The header of its message. */
struct wire note_wire(const struct note *note, enum wire_type type);
/* Sends the rail's part of a notification; a credit has been reserved.
 * DRAIL_EAGAIN: no room. */
int note_send(struct link *link, const struct note *note,
              const struct completion *done);
/* Should the rail's part travel with its last RDMA write, and can it? As this
 * for link_write_immed(). */
bool note_immed(const struct link *link, const struct note *note,
                uint32_t *immed);
/* Is there a notification that is ready, of any peer from this rank on? Else
 * t->job->size. */
unsigned note_next(const drail_t *t, unsigned rank);
/* Delivers the notification that is ready. */
uint32_t note_deliver(struct peer *peer);
/* Of link_handlers. */
const char *note_arrived(struct slot *slot);
const char *note_arrived_immed(struct slot *slot, uint32_t immed);

#endif
