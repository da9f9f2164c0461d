/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory is not freed while a peer accesses it. The initiator writes the key of
 * the range that it is going to access into the connection's counters, and then
 * checks that connection and key are still valid. The owner first withdraws
 * them, and then checks that no access is announced. So at least one of the two
 * sees the other. Accesses are frequent and withdrawals rare: see core/fence.h.
 */
#ifndef DAPL_SHM_ACCESS_H
#define DAPL_SHM_ACCESS_H

#include "providers/shm/connection.h"
#include "providers/shm/memory/peer.h"

/* ----------------------------------------------------------- initiator --- */

static inline void shm_access_leave(struct shm_conn *c, int slot)
{
    atomic_store_explicit(&c->tx->access[slot], 0, memory_order_release);
}

/* Announces an access until shm_access_leave. @p slot: see shm_dir.access. If
 * the peer does not allow it, or no longer, returns an error, and nothing is
 * announced. */
static inline DAT_DTO_COMPLETION_STATUS shm_access_enter(struct shm_conn *c,
                                                         int slot, uint32_t key)
{
    const struct shm_mr *mr = &c->peer->control.table[key % CORE_MAX_MRS];
    atomic_store_explicit(&c->tx->access[slot], key, memory_order_relaxed);
    shm_fence(c);
    if (atomic_load_explicit(&c->tx->closed, memory_order_acquire)) {
        shm_access_leave(c, slot);
        return DAT_DTO_ERR_FLUSHED;
    }
    if (key / CORE_MAX_MRS &&
        atomic_load_explicit(&mr->key, memory_order_acquire) == key)
        return DAT_DTO_SUCCESS;
    shm_access_leave(c, slot);
    return DAT_DTO_ERR_REMOTE_ACCESS;
}

/* The range with this key, announced until shm_access_leave. NULL if the access
 * is not allowed: *status says why. Inlined: each access passes here. */
static inline const struct shm_map *
shm_access_range(struct shm_conn *c, int slot, uint64_t address,
                 uint64_t length, uint32_t key, int priv,
                 DAT_DTO_COMPLETION_STATUS *status)
{
    *status = shm_access_enter(c, slot, key);
    if (*status != DAT_DTO_SUCCESS)
        return NULL;
    const struct shm_map *m = shm_peer_map(c->peer, key);
    if (m && (m->priv & priv) == priv && m->pz_id == c->peer_pz_id &&
        (!m->ep_id || m->ep_id == c->peer_ep_id) &&
        core_within(m->address, m->length, address, length))
        return m;
    shm_access_leave(c, slot);
    *status = DAT_DTO_ERR_REMOTE_ACCESS;
    return NULL;
}

/* --------------------------------------------------------------- owner --- */

/* Ends the peer's right to access memory here over this connection. If an
 * access is going on, glances for its end: a millisecond at most. ia->lock is
 * held. */
void shm_access_close(struct shm_conn *c);
/* After that: is the peer still inside, and to be waited for? Not if it is
 * stopped, nor after 10 s; then its next connection is not waited for either.
 * ia->lock is held, but not between two calls. */
bool shm_access_awaited(struct shm_conn *c);
/* Is the peer, which lives, accessing the range with this key (0: any)? */
bool shm_access_inside(struct shm_conn *c, uint32_t key);

#endif
