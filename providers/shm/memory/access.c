/* SPDX-License-Identifier: BSD-3-Clause */
/* The owner's side. */
#include "providers/shm/memory/access.h"
#include "providers/shm/shm.h"

/* Longer than any copy, also of a process that others keep from its core: a
 * peer still inside then is stopped. */
#define CLOSE_NS 1000000000u

bool shm_access_inside(struct shm_conn *c, uint32_t key)
{
    if (!c->segment || !c->peer) /* never connected */
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
    if (!c->segment || !c->peer || atomic_exchange(&c->rx->closed, 1))
        return;
    core_fence_heavy(false);
    uint64_t end = busywait_now_ns() + CLOSE_NS;
    bool inside;
    while ((inside = shm_access_inside(c, 0)) && !c->peer->stuck &&
           busywait_now_ns() < end)
        sched_yield();
    c->peer->stuck =
        inside; /* if so, its next connection does not wait again */
}
