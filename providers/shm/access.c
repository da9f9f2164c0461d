/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who is in whose memory. An initiator announces the key of the range that it
 * accesses in the connection's counters, and then looks whether the connection
 * and the key are still valid. The owner withdraws them and then looks whether
 * an access is announced: one of the two sees the other.
 *
 * That takes a fence between store and load on both sides; accesses are many
 * and withdrawals few (core/fence.h).
 */
#include "shm.h"

#define CLOSE_NS                                                               \
    100000000u /* a copy's time; who is longer inside is stopped               \
                */

/* ----------------------------------------------------------- initiator --- */

DAT_DTO_COMPLETION_STATUS shm_access_enter(struct shm_conn *c, int slot,
                                           uint32_t key)
{
    const struct shm_mr *mr = &c->peer->control.table[key % CORE_MAX_MRS];
    atomic_store_explicit(&c->tx->access[slot], key, memory_order_relaxed);
    shm_fence(c);
    if (atomic_load(&c->tx->closed)) {
        shm_access_leave(c, slot);
        return DAT_DTO_ERR_FLUSHED;
    }
    if (key / CORE_MAX_MRS && atomic_load(&mr->key) == key)
        return DAT_DTO_SUCCESS;
    shm_access_leave(c, slot);
    return DAT_DTO_ERR_REMOTE_ACCESS;
}

void shm_access_leave(struct shm_conn *c, int slot)
{
    atomic_store_explicit(&c->tx->access[slot], 0, memory_order_release);
}

/* --------------------------------------------------------------- owner --- */

bool shm_access_inside(struct shm_conn *c, uint32_t key)
{
    if (!c->segment || !c->peer) /* it has never been connected */
        return false;
    for (int slot = 0; slot < 2; slot++) {
        uint32_t now = atomic_load(&c->rx->access[slot]);
        if (now && (!key || now == key) && !shm_peer_dead(c->peer))
            return true;
    }
    return false;
}

void shm_access_close(struct shm_conn *c)
{
    if (!c->segment || !c->peer)
        return;
    if (!atomic_exchange(&c->rx->closed, 1))
        core_fence_heavy();
    uint64_t end = shm_now_ns() + CLOSE_NS;
    while (shm_access_inside(c, 0) && shm_now_ns() < end)
        sched_yield();
}
