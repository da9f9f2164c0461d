/* SPDX-License-Identifier: BSD-3-Clause */
#include "providers/core/fence.h"
#include "providers/shm/shm.h"
#include "providers/shm/memory/peer.h"
#include "providers/shm/wakeup/announce.h"
#include "providers/shm/wakeup/doorbell.h"

void shm_announce_bit(struct shm_doorbell *door, uint32_t bit)
{
    atomic_fetch_or(&door->announced[bit / 64], UINT64_C(1) << bit % 64);
    atomic_fetch_or(&door->announced_words, UINT64_C(1) << bit / 64);
}

void shm_announce_to_peer(struct shm_conn *c, uint64_t bells)
{
    struct shm_doorbell *door = c->peer->control.door;
    uint32_t bit = atomic_load(&c->tx->announce) - 1;
    if (bit < SHM_ANNOUNCED) {
        shm_announce_bit(door, bit);
        bells |= atomic_load(&door->slept);
    }
    shm_door_ring(door, bells);
}

/* Takes a bit for the connection. */
static bool take_bit(struct shm_conn *c)
{
    struct shm_ia *sia = c->sia;
    for (unsigned i = 0; i < SHM_ANNOUNCED; i++) {
        unsigned bit = sia->announced_next++ % SHM_ANNOUNCED;
        struct shm_announced *a = &sia->announced[bit];
        if (atomic_load(&a->ep))
            continue;
        atomic_store(&a->found, 0);
        atomic_store(&a->ep, c->ep);
        c->announce = bit + 1;
        return true;
    }
    return false;
}

static void give_bit(struct shm_conn *c)
{
    if (c->announce)
        atomic_store(&c->sia->announced[c->announce - 1].ep, NULL);
    c->announce = 0;
}

/* With a link model, messages come by the mere passing of time. */
bool shm_announce(struct core_ep *ep, bool on)
{
    core_ep_lock(ep);
    struct shm_conn *c = ep->tp;
    bool done = c && (!on || (c->segment && !c->sia->clocks && take_bit(c)));
    if (done && !on)
        give_bit(c);
    if (done && c->segment)
        atomic_store(&c->rx->announce, c->announce);
    core_ep_unlock(ep);
    if (done && on) { /* look for messages sent before the peer saw it */
        core_fence_heavy(false);
        shm_announce_bit(c->sia->control.door, c->announce - 1);
    }
    return done;
}
