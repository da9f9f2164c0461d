/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is in whose memory. An initiator announces the key of the range that it
 * accesses in the connection's counters, and then looks whether the connection
 * and the key are still valid. The owner withdraws them and then looks whether
 * an access is announced: one of the two sees the other. Accesses are many and
 * withdrawals few: see core/fence.h.
 */
#ifndef DAPL_SHM_ACCESS_H
#define DAPL_SHM_ACCESS_H

#include "providers/shm/conn.h"
#include "providers/shm/memory/peer.h"

/* ----------------------------------------------------------- initiator --- */

static inline void shm_access_leave(struct shm_conn *c, int slot)
{
    atomic_store_explicit(&c->tx->access[slot], 0, memory_order_release);
}

/* Announces an access (slot: see shm_dir.access) until shm_access_leave. An
 * error if the peer does not or no longer allow it: nothing is announced. */
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

/* --------------------------------------------------------------- owner --- */

/* Takes back the peer's right to access our memory over this connection, and
 * the first time waits a moment until it is in no access. */
void shm_access_close(struct shm_conn *c);
/* Is the (living) peer in an access to our memory with this key, 0: any? */
bool shm_access_inside(struct shm_conn *c, uint32_t key);

#endif
