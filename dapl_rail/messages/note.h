/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Notifications. On each rail that carries a part of the data, a part of the
 * notification follows it: as a send after the writes, or as immediate data of
 * the last write. A receive completes after the writes that were posted before
 * its send (Cai et al. 2009, section 2). A notification is delivered when all
 * its parts have arrived, in the order of the sender's puts.
 */
#ifndef DRAIL_MESSAGES_NOTE_H
#define DRAIL_MESSAGES_NOTE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/links/wire.h"

struct completion;
struct link;
struct peer;
struct slot;

/* A notification. These EPs of each of these rails carry a part. */
struct note {
    uint32_t seq, id, rails, eps;
};

/* The argument of note_owed(). */
struct note_wait {
    struct peer *peer;
    uint32_t rails; /* expected as long as no part has arrived */
};
/* An owed_t: the next notification has arrived. */
int note_owed(drail_t *t, void *arg, uint32_t *owed);
/* The header of its message. */
struct wire note_wire(const struct note *note, enum wire_type type);
/* Sends the link's part of a notification. The caller has reserved a credit.
 * DRAIL_EAGAIN: no room. */
int note_send(struct link *link, const struct note *note,
              const struct completion *done);
/* Does the link's part travel as immediate data of its last RDMA write? *immed
 * is set for link_write_immed(). */
bool note_immed(const struct link *link, const struct note *note,
                uint32_t *immed);
/* The first peer, from this rank on, whose next notification has arrived; or
 * t->job->size. */
unsigned note_next(const drail_t *t, unsigned rank);
/* Delivers the next notification, which must have arrived: returns its id. */
uint32_t note_deliver(struct peer *peer);
/* Of link_handlers. */
const char *note_arrived(struct slot *slot);
const char *note_arrived_immed(struct slot *slot, uint32_t immed);

#endif
