/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that sleep on a word of memory, of this process or shared. */
#ifndef DAPL_CORE_FUTEX_H
#define DAPL_CORE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static inline struct timespec core_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* Sleeps while the word has this value, UINT64_MAX: for ever. EINTR: a signal
 * came; else 0. */
static inline int core_futex_wait(_Atomic uint32_t *word, bool shared,
                                  uint32_t value, uint64_t timeout_ns)
{
    struct timespec t = core_timespec(timeout_ns);
    long r =
        syscall(SYS_futex, word, FUTEX_WAIT | (shared ? 0 : FUTEX_PRIVATE_FLAG),
                value, timeout_ns == UINT64_MAX ? NULL : &t, NULL, 0);
    return r < 0 && errno == EINTR ? EINTR : 0;
}

/* Wakes so many threads, or all that there are. */
static inline void core_futex_wake(_Atomic uint32_t *word, bool shared,
                                   int most)
{
    syscall(SYS_futex, word, FUTEX_WAKE | (shared ? 0 : FUTEX_PRIVATE_FLAG),
            most, NULL, NULL, 0);
}

#endif
