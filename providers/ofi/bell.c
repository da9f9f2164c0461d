/* SPDX-License-Identifier: BSD-3-Clause */
/* Consumers that sleep: one futex each. */
#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ofi.h"

static long futex(_Atomic uint32_t *word, int op, uint32_t value,
                  const struct timespec *timeout)
{
    return syscall(SYS_futex, word, op, value, timeout, NULL, 0);
}

static _Atomic uint32_t *bell_of(struct ofi_ia *oia, uint64_t bell)
{
    return &oia->bell[__builtin_ctzll(bell)];
}

void ofi_arm(struct core_ia *ia, uint64_t bell)
{
    struct ofi_ia *oia = ofi_ia(ia);
    atomic_store(bell_of(oia, bell), 1);
    /* it will not poll any more: the thread must */
    if (atomic_exchange(&oia->away, false))
        ofi_thread_wake(oia);
}

int ofi_sleep(struct core_ia *ia, uint64_t bell, uint64_t timeout_ns)
{
    struct timespec t = {.tv_sec = (time_t)(timeout_ns / 1000000000u),
                         .tv_nsec = (long)(timeout_ns % 1000000000u)};
    long r = futex(bell_of(ofi_ia(ia), bell), FUTEX_WAIT_PRIVATE, 1,
                   timeout_ns == UINT64_MAX ? NULL : &t);
    return r < 0 && errno == EINTR ? EINTR : 0;
}

void ofi_ring(struct core_ia *ia, uint64_t bells)
{
    for (; bells; bells &= bells - 1) {
        _Atomic uint32_t *bell = bell_of(ofi_ia(ia), bells);
        if (atomic_load_explicit(bell, memory_order_relaxed) &&
            atomic_exchange(bell, 0))
            futex(bell, FUTEX_WAKE_PRIVATE, 1, NULL);
    }
}
