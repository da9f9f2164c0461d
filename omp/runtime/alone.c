/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/alone.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ATOMIC(type)                                                           \
    static uint64_t atomic_##type(ddsm_atomic_t op, type *word, type operand,  \
                                  type expected)                               \
    {                                                                          \
        switch (op) {                                                          \
        case DDSM_LOAD:                                                        \
            return __atomic_load_n(word, __ATOMIC_SEQ_CST);                    \
        case DDSM_STORE:                                                       \
        case DDSM_EXCHANGE:                                                    \
            return __atomic_exchange_n(word, operand, __ATOMIC_SEQ_CST);       \
        case DDSM_ADD:                                                         \
            return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);        \
        case DDSM_AND:                                                         \
            return __atomic_fetch_and(word, operand, __ATOMIC_SEQ_CST);        \
        case DDSM_OR:                                                          \
            return __atomic_fetch_or(word, operand, __ATOMIC_SEQ_CST);         \
        case DDSM_XOR:                                                         \
            return __atomic_fetch_xor(word, operand, __ATOMIC_SEQ_CST);        \
        case DDSM_COMPARE_SWAP:                                                \
        default:                                                               \
            __atomic_compare_exchange_n(word, &expected, operand, false,       \
                                        __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);   \
            return expected;                                                   \
        }                                                                      \
    }
ATOMIC(uint8_t)
ATOMIC(uint16_t)
ATOMIC(uint32_t)
ATOMIC(uint64_t)

uint64_t alone_atomic(ddsm_atomic_t op, void *word, size_t bytes,
                      uint64_t operand, uint64_t expected)
{
    switch (bytes) {
    case 1:
        return atomic_uint8_t(op, word, (uint8_t)operand, (uint8_t)expected);
    case 2:
        return atomic_uint16_t(op, word, (uint16_t)operand, (uint16_t)expected);
    case 4:
        return atomic_uint32_t(op, word, (uint32_t)operand, (uint32_t)expected);
    default:
        return atomic_uint64_t(op, word, operand, expected);
    }
}

/* ------------------------------------------------------------------ locks */

/* as in Drepper, Futexes are tricky */
enum { FREE, TAKEN, AWAITED, POLLS = 100 };

bool alone_try_lock(uint32_t *word)
{
    uint32_t free = FREE;
    return __atomic_compare_exchange_n(word, &free, TAKEN, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

void alone_lock(uint32_t *word)
{
    for (int i = 0; i < POLLS; i++) {
        if (alone_try_lock(word))
            return;
        sched_yield();
    }
    while (__atomic_exchange_n(word, AWAITED, __ATOMIC_ACQUIRE) != FREE)
        syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, AWAITED, NULL, NULL, 0);
}

void alone_unlock(uint32_t *word)
{
    if (__atomic_exchange_n(word, FREE, __ATOMIC_RELEASE) == AWAITED)
        syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
