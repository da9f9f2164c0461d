/* SPDX-License-Identifier: BSD-3-Clause */
/* Ticket locks, by atomics on the control memory of a lock's home. Errors but
 * DRAIL_EAGAIN break the memory. */
#ifndef DSM_SYNC_TICKET_H
#define DSM_SYNC_TICKET_H

#include "dsm/base/space.h"

struct lock {
    unsigned id, home;
    size_t offset; /* of its word, in its home's control memory */
};

/* Ticket numbers have 24 bits and wrap. */
#define TICKET_MAX (((uint32_t)1 << 24) - 1)

/* Bytes of a lock: its word, its last holder's clock, and the slots. */
static inline size_t ticket_bytes(const ddsm_t *d)
{
    return (1 + (size_t)d->size + TICKET_ABANDONED_MAX) * sizeof(uint64_t);
}

/* Takes the last place in the queue. @serving: the ticket whose turn it is. */
int ticket_take(ddsm_t *d, const struct lock *lock, uint32_t *ticket,
                uint32_t *serving);
/* Takes a ticket only if its turn is at once; else DRAIL_EAGAIN. */
int ticket_try(ddsm_t *d, const struct lock *lock, uint32_t *ticket);
/* Reads whose turn it is. */
int ticket_poll(ddsm_t *d, const struct lock *lock, uint32_t *serving);
/* Ends the turn of @ticket: the next ticket that is not abandoned has it. */
int ticket_pass(ddsm_t *d, const struct lock *lock, uint32_t ticket);
/* Abandons a ticket, and passes its turn on if that has just come.
 * DRAIL_EAGAIN: no free slot; the ticket stays in the queue. */
int ticket_abandon(ddsm_t *d, const struct lock *lock, uint32_t ticket);
/* Takes back a ticket that this rank has abandoned. DRAIL_EAGAIN: none is left;
 * their turns have passed. */
int ticket_reclaim(ddsm_t *d, const struct lock *lock, uint32_t *ticket,
                   uint32_t *serving);

#endif
