/* SPDX-License-Identifier: BSD-3-Clause */
/* Bells are futexes in the doorbell page: one per sleeping thread of an IA. */
#include "providers/core/futex.h"
#include "providers/shm/shm.h"
#include "providers/shm/wakeup/doorbell.h"

static unsigned bell_index(uint64_t bell)
{
    return (unsigned)__builtin_ctzll(bell);
}

void shm_door_ring(struct shm_doorbell *door, uint64_t bells)
{
    for (; bells; bells &= bells - 1) {
        _Atomic uint32_t *bell = &door->bell[bell_index(bells)];
        if (atomic_load_explicit(bell, memory_order_relaxed) &&
            atomic_exchange(bell, 0))
            core_futex_wake(bell, true, 1);
    }
}

void shm_arm(struct core_ia *ia, uint64_t bell)
{
    struct shm_doorbell *door = shm_ia(ia)->control.door;
    atomic_store(&door->bell[bell_index(bell)], 1);
    if (!(atomic_load_explicit(&door->slept, memory_order_relaxed) & bell))
        atomic_fetch_or(&door->slept, bell);
}

int shm_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns)
{
    (void)fed;
    return core_futex_wait(&shm_ia(ia)->control.door->bell[bell_index(bell)],
                           true, 1, timeout_ns);
}

void shm_ring(struct core_ia *ia, uint64_t bells)
{
    shm_door_ring(shm_ia(ia)->control.door, bells);
}
