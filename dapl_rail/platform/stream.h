/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A copy by non-temporal stores: it does not read the target's lines into the
 * cache, and leaves the data in no cache. Providers use it, too.
 *
 * Wider stores gained nothing; fetching a piece before it is stored gained a
 * third where the source was in no cache, and no less where it was.
 */
#ifndef DRAIL_STREAM_H
#define DRAIL_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

#define STREAM_EXISTS 1
#define STREAM_LINE   64
#define STREAM_PIECE  2048

static inline void stream_line(char *to, const char *from)
{
    for (size_t at = 0; at < STREAM_LINE; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(to + at),
                         _mm_loadu_si128((const __m128i *)(from + at)));
}

/* In pieces, so that memory changes between reads and writes less often. */
static inline void stream_piece(char *to, const char *from)
{
    for (size_t at = 0; at < STREAM_PIECE; at += STREAM_LINE)
        _mm_prefetch(from + at, _MM_HINT_T0);
    for (size_t at = 0; at < STREAM_PIECE; at += STREAM_LINE)
        stream_line(to + at, from + at);
}

static inline void stream_copy(void *target, const void *source, size_t n)
{
    char *to = target;
    const char *from = source;
    size_t lead = -(uintptr_t)to % STREAM_LINE;
    if (lead > n)
        lead = n;
    memcpy(to, from, lead);
    to += lead, from += lead, n -= lead;
    for (; n >= STREAM_PIECE; n -= STREAM_PIECE) {
        stream_piece(to, from);
        to += STREAM_PIECE, from += STREAM_PIECE;
    }
    for (; n >= STREAM_LINE; n -= STREAM_LINE) {
        stream_line(to, from);
        to += STREAM_LINE, from += STREAM_LINE;
    }
    memcpy(to, from, n);
    _mm_sfence(); /* the data must be visible before any flag set later */
}
#else
#define STREAM_EXISTS 0

static inline void stream_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

#endif
