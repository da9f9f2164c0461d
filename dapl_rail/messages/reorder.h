/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A reorder buffer: the two-sided messages of one peer that have arrived, each
 * whole in its slot, by sequence number. They come over several rails, and are
 * delivered in the order of sending. As in an inbox, credits bound the number
 * of messages, so the ring never wraps onto a live entry.
 */
#ifndef DRAIL_MESSAGES_REORDER_H
#define DRAIL_MESSAGES_REORDER_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

#include "dapl_rail/base/ring.h"
#include "dapl_rail/dapl_rail.h"

struct slot;

struct reorder {
    _Atomic(struct slot *) *ring;
    uint32_t mask;
    uint32_t next;         /* sequence number of the next one to deliver */
    uint32_t last, likely; /* rails of the last one, and of the last two */
};

/* 0 or DRAIL_ENOMEM. */
static inline int reorder_open(struct reorder *b, unsigned capacity)
{
    uint32_t places = ring_places(capacity);
    b->mask = places - 1;
    b->ring = calloc(places, sizeof *b->ring);
    return b->ring ? 0 : DRAIL_ENOMEM;
}

static inline void reorder_close(struct reorder *b)
{
    free(b->ring);
}

/* The message with this number, if it has arrived and is not delivered. */
static inline struct slot *reorder_find(const struct reorder *b, uint32_t seq)
{
    return seq - b->next > b->mask
               ? NULL
               : atomic_load_explicit(&b->ring[seq & b->mask],
                                      memory_order_acquire);
}

/* The message that is delivered next, or NULL. */
static inline struct slot *reorder_next(const struct reorder *b)
{
    return reorder_find(b, b->next);
}

/* Threads of several rails may call this at once. -1: the number is not valid,
 * or was there already. */
static inline int reorder_put(struct reorder *b, uint32_t seq,
                              struct slot *slot)
{
    if (seq - b->next > b->mask || reorder_find(b, seq))
        return -1;
    atomic_store_explicit(&b->ring[seq & b->mask], slot, memory_order_release);
    return 0;
}

/* The next message, which has come over these rails, has been delivered. */
static inline void reorder_pop(struct reorder *b, uint32_t rails)
{
    b->likely = rails | b->last;
    b->last = rails;
    atomic_store_explicit(&b->ring[b->next & b->mask], NULL,
                          memory_order_relaxed);
    b->next++;
}

#endif
