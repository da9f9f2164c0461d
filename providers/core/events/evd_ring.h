/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of an EVD's queue (struct core_evd_ring) as both of its sides see
 * them. */
#ifndef DAPL_CORE_EVD_RING_H
#define DAPL_CORE_EVD_RING_H

#include <string.h>

#include "providers/core/internal.h"

/* Most events carry no extension data: do not move those 64 bytes. */
static inline void core_event_copy(DAT_EVENT *to, const DAT_EVENT *from)
{
    memcpy(to, from, offsetof(DAT_EVENT, event_extension_data));
    if (from->event_number >= DAT_IB_EXTENSION_RANGE_BASE)
        memcpy(to->event_extension_data, from->event_extension_data,
               sizeof to->event_extension_data);
}

/* This thread's name in core_evd.poller. */
static inline uintptr_t core_evd_self(void)
{
    return (uintptr_t)pthread_self();
}

/* Has the producer of this position published it? */
static inline bool core_ring_full_at(struct core_evd_ring *r, uint64_t pos)
{
    return atomic_load_explicit(&r->slot[pos & r->mask].turn,
                                memory_order_acquire) == (pos & ~r->mask) + 1;
}

static inline struct core_evd_ring *core_ring_next(struct core_evd_ring *r)
{
    return atomic_load_explicit(&r->next, memory_order_acquire);
}

#endif
