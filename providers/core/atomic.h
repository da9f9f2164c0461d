/* SPDX-License-Identifier: BSD-3-Clause */
/* Atomics of DAT that the processor executes. */
#ifndef PROVIDERS_CORE_ATOMIC_H
#define PROVIDERS_CORE_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

/* Compares the word and swaps it, or else adds the operand to it. Returns the
 * old value. */
static inline uint64_t core_atomic(uint64_t *word, bool swap, uint64_t operand,
                                   uint64_t compare)
{
    uint64_t old = compare; /* replaced by the value found */
    if (!swap)
        return __atomic_fetch_add(word, operand, __ATOMIC_SEQ_CST);
    __atomic_compare_exchange_n(word, &old, operand, false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return old;
}

#endif
