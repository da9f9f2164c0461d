/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The copy. Plain memcpy is fastest as long as the target fits a cache that
 * sender and receiver share; beyond, non-temporal stores save reading the
 * target first. Where that begins is measured, not assumed: see stream= in
 * dapl_shm(7) and `railbench limits`.
 */
#include <string.h>

#include "shm.h"

#ifdef __SSE2__
#include <emmintrin.h>

static void copy_stream(char *to, const char *from, size_t n)
{
    size_t lead = -(uintptr_t)to & 63;
    memcpy(to, from, lead);
    to += lead, from += lead, n -= lead;
    for (; n >= 64; n -= 64, to += 64, from += 64) {
        __m128i a = _mm_loadu_si128((const __m128i *)from);
        __m128i b = _mm_loadu_si128((const __m128i *)(from + 16));
        __m128i c = _mm_loadu_si128((const __m128i *)(from + 32));
        __m128i d = _mm_loadu_si128((const __m128i *)(from + 48));
        _mm_stream_si128((__m128i *)to, a);
        _mm_stream_si128((__m128i *)(to + 16), b);
        _mm_stream_si128((__m128i *)(to + 32), c);
        _mm_stream_si128((__m128i *)(to + 48), d);
    }
    memcpy(to, from, n);
    _mm_sfence(); /* before anything that announces the data */
}
#else
static void copy_stream(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

void shm_copy(void *to, const void *from, size_t n, size_t stream_bytes)
{
    if (n >= stream_bytes && n > 64)
        copy_stream(to, from, n);
    else
        memcpy(to, from, n);
}

size_t shm_last_word(uintptr_t to, size_t n)
{
    size_t word = 8;
    while (word > n || (to + n) % word)
        word /= 2;
    return word;
}

void shm_copy_ordered(void *to, const void *from, size_t n, size_t stream_bytes)
{
    if (!n)
        return;
    size_t word = shm_last_word((uintptr_t)to, n), rest = n - word;
    if (rest)
        shm_copy(to, from, rest, stream_bytes);
    void *last = (char *)to + rest;
    union {
        uint64_t of8;
        uint32_t of4;
        uint16_t of2;
        uint8_t of1;
    } value;
    memcpy(&value, (const char *)from + rest, word);
    if (word == 8)
        __atomic_store_n((uint64_t *)last, value.of8, __ATOMIC_RELEASE);
    else if (word == 4)
        __atomic_store_n((uint32_t *)last, value.of4, __ATOMIC_RELEASE);
    else if (word == 2)
        __atomic_store_n((uint16_t *)last, value.of2, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint8_t *)last, value.of1, __ATOMIC_RELEASE);
}
