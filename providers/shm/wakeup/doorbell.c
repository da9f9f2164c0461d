/* SPDX-License-Identifier: BSD-3-Clause */
/* Bells are futexes in the doorbell page: one per sleeping thread of an IA. */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "providers/shm/shm.h"
#include "providers/shm/wakeup/doorbell.h"

static long futex(_Atomic uint32_t *word, int op, uint32_t value,
                  const struct timespec *timeout)
{
    return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

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
            futex(bell, FUTEX_WAKE, 1, NULL);
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
    struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                         .tv_nsec = (long)(timeout_ns % 1000000000u)};
    long r = futex(&shm_ia(ia)->control.door->bell[bell_index(bell)],
                   FUTEX_WAIT, 1, timeout_ns == UINT64_MAX ? NULL : &t);
    return r < 0 && errno == EINTR ? EINTR : 0;
}

void shm_ring(struct core_ia *ia, uint64_t bells)
{
    shm_door_ring(shm_ia(ia)->control.door, bells);
}
