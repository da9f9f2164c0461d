/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping until a word changes. */
#ifndef DAPL_BOND_FUTEX_H
#define DAPL_BOND_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sleeps while *word is @p value. */
static inline long futex_wait(_Atomic uint32_t *word, uint32_t value,
                              const struct timespec *timeout)
{
    return syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, NULL,
                   0);
}

static inline void futex_wake(_Atomic uint32_t *word, int most)
{
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, most, NULL, NULL, 0);
}

#endif
