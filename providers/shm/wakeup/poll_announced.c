/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A poll looks whether any announcement bit is set, and then makes progress of
 * the EPs of the bits that are. A bit is cleared before that, so that a later
 * message sets it again. It is set again here when a message is left: another
 * thread is at the EP, or there is no receive.
 */
#include "providers/shm/shm.h"
#include "providers/shm/message/data.h"
#include "providers/shm/message/ring.h"
#include "providers/shm/wakeup/announce.h"
#include "providers/shm/wakeup/poll_announced.h"

#define OFTEN 32u /* announcements, after which an EP is polled each time */

static void look(struct shm_ia *sia, uint32_t bit, bool sure)
{
    struct shm_announced *a = &sia->announced[bit];
    struct core_ep *ep = atomic_load_explicit(&a->ep, memory_order_acquire);
    if (!ep)
        return;
    shm_progress(ep, sure);
    struct shm_conn *c = ep->tp;
    if (c && shm_rx_next(c))
        shm_announce_bit(sia->control.door, bit);
    if (atomic_fetch_add_explicit(&a->found, 1, memory_order_relaxed) ==
        OFTEN) {
        atomic_store_explicit(&a->found, 0, memory_order_relaxed);
        core_poll_often(sia->ia, &a->ep);
    }
}

void shm_poll_announced(struct core_ia *ia, bool sure)
{
    struct shm_ia *sia = shm_ia(ia);
    struct shm_doorbell *door = sia->control.door;
    uint64_t words = atomic_exchange(&door->announced_words, 0);
    for (; words; words &= words - 1) {
        uint32_t w = (uint32_t)__builtin_ctzll(words);
        uint64_t bits = atomic_exchange(&door->announced[w], 0);
        for (; bits; bits &= bits - 1)
            look(sia, w * 64 + (uint32_t)__builtin_ctzll(bits), sure);
    }
}
