/* SPDX-License-Identifier: BSD-3-Clause */
/* Tickets of locks, by atomics on memory of a lock's home. */
#ifndef DSM_SYNC_TICKET_H
#define DSM_SYNC_TICKET_H

#include "dsm/base/space.h"

struct lock {
    unsigned id, home;
    size_t offset; /* of its word, in its home's control memory */
};

/* Tickets are numbers of so many bits. */
#define TICKET_MAX (((uint32_t)1 << 24) - 1)

/* A lock's word, the clock, which is its last holder's, and who has left. */
static inline size_t ticket_bytes(const ddsm_t *d)
{
    return (1 + (size_t)d->size + TICKET_ABANDONED_MAX) * sizeof(uint64_t);
}

/* The last place in the queue. @serving: whose turn it is. */
int ticket_take(ddsm_t *d, const struct lock *lock, uint32_t *ticket,
                uint32_t *serving);
/* Whose turn is it? */
int ticket_poll(ddsm_t *d, const struct lock *lock, uint32_t *serving);
/* It was this one's turn: now it is that of the next who has not left. */
int ticket_pass(ddsm_t *d, const struct lock *lock, uint32_t ticket);
/* Gives the place up, whose turn may have come meanwhile. DRAIL_EAGAIN: too
 * many have done so, the place stays. */
int ticket_abandon(ddsm_t *d, const struct lock *lock, uint32_t ticket);
/* A place that this rank has given up is its own again. DRAIL_EAGAIN: there is
 * none, those were passed over. */
int ticket_reclaim(ddsm_t *d, const struct lock *lock, uint32_t *ticket,
                   uint32_t *serving);

#endif
