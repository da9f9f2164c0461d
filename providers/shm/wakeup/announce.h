/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Announcements: a sender sets one bit in the receiver's doorbell page, so that
 * a receiver with thousands of connections looks only at those that have
 * something (core/events/polling.c says which connections use this).
 */
#ifndef DAPL_SHM_ANNOUNCE_H
#define DAPL_SHM_ANNOUNCE_H

#include "providers/shm/connection.h"
#include "providers/shm/message/segment.h"
#include "providers/shm/wakeup/control.h"

/* The owner of a bit. */
struct shm_announced {
    _Atomic(struct core_ep *) ep; /* NULL: the bit is free */
    atomic_uint found;            /* announcements since the EP got the bit, or
                                     since core_poll_often was last called */
};

/* Sets a bit. */
void shm_announce_bit(struct shm_doorbell *door, uint32_t bit);
/* Announces to the connection's peer, and rings these bells of its. */
void shm_announce_to_peer(struct shm_conn *c, uint64_t bells);
/* Does the peer want an announcement, or a bell rung? *bells: which. After a
 * fence. */
static inline bool shm_peer_listens(const struct shm_conn *c, uint64_t *bells)
{
    /* in this order: a peer that ends its announcements has set bells before */
    uint32_t announce =
        atomic_load_explicit(&c->tx->announce, memory_order_acquire);
    *bells = atomic_load_explicit(&c->tx->bells, memory_order_relaxed);
    return announce || *bells;
}
/* Tells the peer that there is a message, or that counters have changed. */
static inline void shm_notify_peer(struct shm_conn *c)
{
    uint64_t bells;
    shm_fence(c);
    if (__builtin_expect(shm_peer_listens(c, &bells), 0))
        shm_announce_to_peer(c, bells);
}

/* core_transport.announce */
bool shm_announce(struct core_ep *ep, bool on);

#endif
