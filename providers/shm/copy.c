/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The copy: plain, or by non-temporal stores, which save reading the target
 * first but leave the data in no cache. Which one when: choice.c.
 *
 * Plain is memcpy: loops of AVX-512, prefetching and `rep movsb` were at best
 * 4 % faster, from 64 KB to 1 MB on an Intel Xeon. Non-temporal copies gained
 * nothing from wider stores, but 10 to 20 % from several pages side by side.
 */
#include <string.h>

#include "copy.h"

#ifdef __SSE2__
#include <emmintrin.h>

#define LINE  64
#define PAGE  4096
#define PAGES 4 /* side by side */

const bool shm_can_stream = true;

static inline void stream_line(char *to, const char *from)
{
    for (size_t at = 0; at < LINE; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(to + at),
                         _mm_loadu_si128((const __m128i *)(from + at)));
}

static void stream_pages(char *to, const char *from)
{
    for (size_t at = 0; at < PAGE; at += LINE)
        for (size_t page = 0; page < PAGES * PAGE; page += PAGE)
            stream_line(to + page + at, from + page + at);
}

static void copy_stream(char *to, const char *from, size_t n)
{
    size_t lead = -(uintptr_t)to % LINE;
    memcpy(to, from, lead);
    to += lead, from += lead, n -= lead;
    for (; n >= PAGES * PAGE; n -= PAGES * PAGE) {
        stream_pages(to, from);
        to += PAGES * PAGE, from += PAGES * PAGE;
    }
    for (; n >= LINE; n -= LINE, to += LINE, from += LINE)
        stream_line(to, from);
    memcpy(to, from, n);
    _mm_sfence(); /* before anything that announces the data */
}
#else
const bool shm_can_stream = false;

static void copy_stream(char *to, const char *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

void shm_copy(void *to, const void *from, size_t n, bool stream)
{
    if (stream && n > 64)
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

void shm_copy_ordered_any(void *to, const void *from, size_t n, bool stream)
{
    if (!n)
        return;
    size_t word = shm_last_word((uintptr_t)to, n), rest = n - word;
    if (rest)
        shm_copy(to, from, rest, stream);
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
