/* SPDX-License-Identifier: BSD-3-Clause */
/* What omp/plugin makes of the __atomic_ and __sync_ builtins of the program:
 * railomp_atomic_fetch_add_4 for __atomic_fetch_add_4, and so on. */
#include <fenv.h>
#include <string.h>

#include "omp/runtime/alone.h"
#include "omp/runtime/memory.h"

#include "omp/runtime/interface.h"

typedef unsigned __int128 uint128_t;

static bool releases(int order)
{
    return (order & 0xffff) >= __ATOMIC_RELEASE;
}

static bool acquires(int order)
{
    order &= 0xffff; /* the other bits are hints */
    return order != __ATOMIC_RELAXED && order != __ATOMIC_RELEASE;
}

/* A member of a packed struct: under a lock, which all accesses to it take. */
static uint64_t act_unaligned(ddsm_atomic_t op, void *word, size_t bytes,
                              uint64_t operand, uint64_t expected)
{
    uint64_t copy = 0;
    memory_lock(&shared_words->atomic);
    memcpy(&copy, word, bytes);
    const uint64_t old = alone_atomic(op, &copy, bytes, operand, expected);
    if (op != DDSM_LOAD)
        memcpy(word, &copy, bytes);
    memory_unlock(&shared_words->atomic);
    return old;
}

static uint64_t act(ddsm_atomic_t op, volatile void *word, size_t bytes,
                    uint64_t operand, uint64_t expected, int order)
{
    if ((uintptr_t)word % bytes)
        return act_unaligned(op, (void *)word, bytes, operand, expected);
    if (releases(order) && op != DDSM_LOAD)
        memory_release();
    const uint64_t old =
        memory_atomic(op, (void *)word, bytes, operand, expected);
    if (acquires(order) && op != DDSM_STORE)
        memory_acquire();
    return old;
}

static uint64_t nand(volatile void *word, size_t bytes, uint64_t operand,
                     int order)
{
    uint64_t old = act(DDSM_LOAD, word, bytes, 0, 0, __ATOMIC_RELAXED), seen;
    do {
        seen = old;
        old =
            act(DDSM_COMPARE_SWAP, word, bytes, ~(seen & operand), seen, order);
    } while (old != seen);
    return old;
}

/* @before, @after: the value that the word had (@old in @after), and has
 * then. Subtraction adds the negative. */
#define FETCH(name, before, after, bytes, type)                                \
    type railomp_atomic_fetch_##name##_##bytes(volatile void *word, type x,    \
                                               int order)                      \
    {                                                                          \
        return (type)(before);                                                 \
    }                                                                          \
    type railomp_atomic_##name##_fetch_##bytes(volatile void *word, type x,    \
                                               int order)                      \
    {                                                                          \
        const type old = (type)(before);                                       \
        return (type)(after);                                                  \
    }                                                                          \
    type railomp_sync_fetch_and_##name##_##bytes(volatile void *word, type x)  \
    {                                                                          \
        return railomp_atomic_fetch_##name##_##bytes(word, x,                  \
                                                     __ATOMIC_SEQ_CST);        \
    }                                                                          \
    type railomp_sync_##name##_and_fetch_##bytes(volatile void *word, type x)  \
    {                                                                          \
        return railomp_atomic_##name##_fetch_##bytes(word, x,                  \
                                                     __ATOMIC_SEQ_CST);        \
    }

#define WORD(bytes, type)                                                      \
    FETCH(add, act(DDSM_ADD, word, bytes, x, 0, order), old + x, bytes, type)  \
    FETCH(sub, act(DDSM_ADD, word, bytes, (type)-x, 0, order), old - x, bytes, \
          type)                                                                \
    FETCH(and, act(DDSM_AND, word, bytes, x, 0, order), old &x, bytes, type)   \
    FETCH(or, act(DDSM_OR, word, bytes, x, 0, order), old | x, bytes, type)    \
    FETCH(xor, act(DDSM_XOR, word, bytes, x, 0, order), old ^ x, bytes, type)  \
    FETCH(nand, nand(word, bytes, x, order), ~(old & x), bytes, type)          \
    type railomp_atomic_load_##bytes(const volatile void *word, int order)     \
    {                                                                          \
        return (type)act(DDSM_LOAD, (volatile void *)word, bytes, 0, 0,        \
                         order);                                               \
    }                                                                          \
    void railomp_atomic_store_##bytes(volatile void *word, type x, int order)  \
    {                                                                          \
        act(DDSM_STORE, word, bytes, x, 0, order);                             \
    }                                                                          \
    type railomp_atomic_exchange_##bytes(volatile void *word, type x,          \
                                         int order)                            \
    {                                                                          \
        return (type)act(DDSM_EXCHANGE, word, bytes, x, 0, order);             \
    }                                                                          \
    type railomp_compare_swap_##bytes(volatile void *word, type expected,      \
                                      type x, int order)                       \
    {                                                                          \
        return (type)act(DDSM_COMPARE_SWAP, word, bytes, x, expected, order);  \
    }                                                                          \
    bool railomp_atomic_compare_exchange_##bytes(                              \
        volatile void *word, void *expected, type x, bool weak, int order,     \
        int failed)                                                            \
    {                                                                          \
        type seen;                                                             \
        (void)weak, (void)failed;                                              \
        memcpy(&seen, expected, bytes);                                        \
        const type old = railomp_compare_swap_##bytes(word, seen, x, order);   \
        if (old == seen)                                                       \
            return true;                                                       \
        memcpy(expected, &old, bytes);                                         \
        return false;                                                          \
    }                                                                          \
    type railomp_sync_val_compare_and_swap_##bytes(volatile void *word,        \
                                                   type expected, type x)      \
    {                                                                          \
        return railomp_compare_swap_##bytes(word, expected, x,                 \
                                            __ATOMIC_SEQ_CST);                 \
    }                                                                          \
    bool railomp_sync_bool_compare_and_swap_##bytes(volatile void *word,       \
                                                    type expected, type x)     \
    {                                                                          \
        return railomp_compare_swap_##bytes(word, expected, x,                 \
                                            __ATOMIC_SEQ_CST) == expected;     \
    }                                                                          \
    type railomp_sync_lock_test_and_set_##bytes(volatile void *word, type x)   \
    {                                                                          \
        return railomp_atomic_exchange_##bytes(word, x, __ATOMIC_ACQUIRE);     \
    }                                                                          \
    void railomp_sync_lock_release_##bytes(volatile void *word)                \
    {                                                                          \
        railomp_atomic_store_##bytes(word, 0, __ATOMIC_RELEASE);               \
    }
WORD(1, uint8_t)
WORD(2, uint16_t)
WORD(4, uint32_t)
WORD(8, uint64_t)

bool railomp_atomic_test_and_set(volatile void *word, int order)
{
    return act(DDSM_EXCHANGE, word, 1, 1, 0, order) != 0;
}

void railomp_atomic_clear(volatile void *word, int order)
{
    act(DDSM_STORE, word, 1, 0, 0, order);
}

/* ------------------------------------------------------ longer than a word */

/* Under a lock, which all of these take. */
void railomp_atomic_load(size_t bytes, const volatile void *from, void *to,
                         int order)
{
    (void)order;
    memory_lock(&shared_words->atomic);
    memcpy(to, (const void *)from, bytes);
    memory_unlock(&shared_words->atomic);
}

void railomp_atomic_store(size_t bytes, volatile void *to, void *from,
                          int order)
{
    (void)order;
    memory_lock(&shared_words->atomic);
    memcpy((void *)to, from, bytes);
    memory_unlock(&shared_words->atomic);
}

void railomp_atomic_exchange(size_t bytes, volatile void *word, void *x,
                             void *old, int order)
{
    char now[bytes];
    (void)order;
    memory_lock(&shared_words->atomic);
    memcpy(now, (const void *)word, bytes);
    memcpy((void *)word, x, bytes);
    memory_unlock(&shared_words->atomic);
    memcpy(old, now, bytes);
}

bool railomp_atomic_compare_exchange(size_t bytes, volatile void *word,
                                     void *expected, void *x, int order,
                                     int failed)
{
    (void)order, (void)failed;
    memory_lock(&shared_words->atomic);
    const bool same = !memcmp((const void *)word, expected, bytes);
    if (same)
        memcpy((void *)word, x, bytes);
    else
        memcpy(expected, (const void *)word, bytes);
    memory_unlock(&shared_words->atomic);
    return same;
}

uint128_t railomp_atomic_load_16(const volatile void *word, int order)
{
    uint128_t value;
    railomp_atomic_load(sizeof value, word, &value, order);
    return value;
}

void railomp_atomic_store_16(volatile void *word, uint128_t x, int order)
{
    railomp_atomic_store(sizeof x, word, &x, order);
}

uint128_t railomp_atomic_exchange_16(volatile void *word, uint128_t x,
                                     int order)
{
    uint128_t old;
    railomp_atomic_exchange(sizeof x, word, &x, &old, order);
    return old;
}

#define FETCH_16(name, operation)                                              \
    uint128_t railomp_atomic_fetch_##name##_16(volatile void *word,            \
                                               uint128_t x, int order)         \
    {                                                                          \
        uint128_t old, result;                                                 \
        (void)order;                                                           \
        memory_lock(&shared_words->atomic);                                    \
        memcpy(&old, (const void *)word, sizeof old);                          \
        result = operation;                                                    \
        memcpy((void *)word, &result, sizeof result);                          \
        memory_unlock(&shared_words->atomic);                                  \
        return old;                                                            \
    }                                                                          \
    uint128_t railomp_atomic_##name##_fetch_16(volatile void *word,            \
                                               uint128_t x, int order)         \
    {                                                                          \
        const uint128_t old =                                                  \
            railomp_atomic_fetch_##name##_16(word, x, order);                  \
        return operation;                                                      \
    }
FETCH_16(add, old + x)
FETCH_16(sub, old - x)
FETCH_16(and, old &x)
FETCH_16(or, old | x)
FETCH_16(xor, old ^ x)
FETCH_16(nand, ~(old &x))

bool railomp_atomic_compare_exchange_16(volatile void *word, void *expected,
                                        uint128_t x, bool weak, int order,
                                        int failed)
{
    (void)weak;
    return railomp_atomic_compare_exchange(sizeof x, word, expected, &x, order,
                                           failed);
}

/* of an _Atomic double, after its operation */
void railomp_atomic_feraiseexcept(int exceptions)
{
    feraiseexcept(exceptions);
}

/* ----------------------------------------------------------------- fences */

void railomp_atomic_thread_fence(int order)
{
    if (releases(order))
        memory_release();
    if (acquires(order))
        memory_acquire();
}

void railomp_sync_synchronize(void)
{
    railomp_atomic_thread_fence(__ATOMIC_SEQ_CST);
}
