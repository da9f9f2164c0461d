/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of long ranges. plain_copy leaves the data in the caches; stream_copy
 * uses non-temporal stores, which do not read the target's lines into the
 * cache, and leaves the data in no cache. fetch_copy reads what another core
 * has just written; overwrite_copy writes over what another core has just read.
 * Providers use all but fetch_copy, too.
 *
 * The figures are of an Intel Xeon and an AMD EPYC of the fifth generation.
 */
#ifndef DRAIL_LONG_COPY_H
#define DRAIL_LONG_COPY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "dapl_rail/platform/prefetch.h"

/* The lengths for wide_copy. memcpy goes over to `rep movsb` at 2 KB. On the
 * EPYC wide_copy takes half of the time while both sides are in the first
 * cache. Beyond 4 KB they may not be there, and then it is slower. On the Xeon,
 * wide_ahead_copy is faster beyond 4 KB; below that it is faster in caches and
 * slower out of them. */
#define WIDE_LEAST 1024u
#define WIDE_MOST  4096u

/* Sanitizers do not see into assembler. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) &&                   \
    __has_include(<sys/platform/x86.h>)
#include <immintrin.h>
#include <sys/platform/x86.h>

/* Above 1 MB memcpy gives up `rep movsb`, which was 1.15 times as fast there as
 * its loops on the EPYC. Below that memcpy uses it, too. */
#define REP_LEAST (512u << 10)

#define WIDE_LINE 64u

/* At most eight. */
__attribute__((target("avx512f"), always_inline)) static inline void
wide_lines(char *to, const char *from, unsigned count)
{
    __m512i line[8];
    for (unsigned i = 0; i < count; i++)
        line[i] = _mm512_loadu_si512(from + i * WIDE_LINE);
    for (unsigned i = 0; i < count; i++)
        _mm512_storeu_si512(to + i * WIDE_LINE, line[i]);
}

/* In steps of 8 lines, 4 KB within the first cache took 0.57 times as long as
 * in steps of 4 on the Xeon. */
__attribute__((target("avx512f"))) static inline void
wide_copy(char *to, const char *from, size_t n)
{
    size_t at = 0;
    for (; at + 8 * WIDE_LINE <= n; at += 8 * WIDE_LINE)
        wide_lines(to + at, from + at, 8);
    for (; at + WIDE_LINE < n; at += WIDE_LINE)
        _mm512_storeu_si512(to + at, _mm512_loadu_si512(from + at));
    n -= WIDE_LINE; /* may overlap the line before */
    _mm512_storeu_si512(to + n, _mm512_loadu_si512(from + n));
}

/* Fetches both sides 1 KB ahead. On the Xeon, puts of 64 KB and 256 KB took
 * 0.88 and 0.84 times as long as by memcpy in caches, 0.93 and 0.90 out of
 * them. Fetches nothing behind the ends: another core may be using that. */
#define WIDE_AHEAD 1024u

__attribute__((target("avx512f"))) static inline void
wide_ahead_copy(char *to, const char *from, size_t n)
{
    size_t at = 0;
    for (; at + WIDE_AHEAD + 4 * WIDE_LINE <= n; at += 4 * WIDE_LINE) {
        for (unsigned i = 0; i < 4; i++) {
            prefetch_for_write(to + at + WIDE_AHEAD + i * WIDE_LINE);
            __builtin_prefetch(from + at + WIDE_AHEAD + i * WIDE_LINE);
        }
        wide_lines(to + at, from + at, 4);
    }
    wide_copy(to + at, from + at, n - at);
}

/* Is this the Xeon of these figures, or a newer one, and n of the lengths that
 * gain from fetches ahead? Older ones, which lack VBMI2, slow down for such
 * vectors. */
static inline bool goes_ahead(size_t n)
{
    return n >= WIDE_LEAST && n < REP_LEAST && __builtin_cpu_is("intel") &&
           __builtin_cpu_supports("avx512vbmi2");
}

static inline bool copies_wide(size_t n)
{
    if (n > WIDE_MOST)
        return goes_ahead(n);
    return n >= WIDE_LEAST && __builtin_cpu_is("amd") &&
           __builtin_cpu_supports("avx512f");
}

/* The longest copy whose both sides may lie in the first cache. */
#define NEAR_MOST (8u << 10)

/* Of a copy from the source of the one before, with near_copy. On the Xeon,
 * such puts of 4 KB in a row took 0.6 times as long as with memcpy, and puts of
 * 8 KB 0.8 times as long as with wide_ahead_copy. Where the sides lie in a
 * farther cache, memcpy is faster. */
static inline bool copies_near(size_t n)
{
    return n <= NEAR_MOST && goes_ahead(n);
}

static inline void near_copy(void *to, const void *from, size_t n)
{
    wide_copy(to, from, n);
}

static inline void rep_copy(void *to, const void *from, size_t n)
{
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
}

/* Not inlined: short copies do without. */
__attribute__((noinline, unused)) static void
plain_copy_long(void *to, const void *from, size_t n)
{
    if (copies_wide(n))
        n > WIDE_MOST ? wide_ahead_copy(to, from, n) : wide_copy(to, from, n);
    else if (n >= REP_LEAST && CPU_FEATURE_ACTIVE(ERMS))
        rep_copy(to, from, n);
    else
        memcpy(to, from, n);
}

static inline void plain_copy(void *to, const void *from, size_t n)
{
    if (n >= WIDE_LEAST) {
        plain_copy_long(to, from, n);
        return;
    }
    /* GCC must not know the bound: it would make this a slow `rep movsq` */
    __asm__("" : "+r"(n));
    memcpy(to, from, n);
}

/* `rep movsb` does not read the lines that it stores whole. If the target began
 * with a line, it took 0.6 times as long as vectors on the EPYC, and 0.75 times
 * as long as memcpy. On the Xeon, messages of 4 KB and 8 KB in a row took 0.88
 * and 0.83 times as long with wide_ahead_copy. */
static inline void overwrite_copy(void *to, const void *from, size_t n)
{
    if (goes_ahead(n))
        wide_ahead_copy(to, from, n);
    else if (CPU_FEATURE_ACTIVE(ERMS))
        rep_copy(to, from, n);
    else
        memcpy(to, from, n);
}
#else
static inline bool goes_ahead(size_t n)
{
    (void)n;
    return false;
}

static inline bool copies_wide(size_t n)
{
    (void)n;
    return false;
}

static inline bool copies_near(size_t n)
{
    (void)n;
    return false;
}

static inline void near_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}

static inline void plain_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}

static inline void overwrite_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

/* From the end on, in blocks. */
#define BACKWARD_BLOCK (16u << 10)

static inline void backward_copy(void *to, const void *from, size_t n)
{
    while (n) {
        size_t block = n < BACKWARD_BLOCK ? n : BACKWARD_BLOCK;
        n -= block;
        memcpy((char *)to + n, (const char *)from + n, block);
    }
}

#ifdef __SSE2__
#include <immintrin.h>

#define STREAM_EXISTS 1
#define STREAM_LINE   64
#define STREAM_PIECE  2048

static inline void stream_line(char *to, const char *from)
{
    for (size_t at = 0; at < STREAM_LINE; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)(to + at),
                         _mm_loadu_si128((const __m128i *)(from + at)));
}

/* Fetching a piece before it is stored gained a third on the Xeon, where the
 * source was in no cache: memory changes between reads and writes less often.
 * Returns the bytes copied: whole pieces. */
static inline size_t stream_pieces(char *to, const char *from, size_t n)
{
    size_t done = 0;
    for (; n - done >= STREAM_PIECE; done += STREAM_PIECE) {
        for (size_t at = 0; at < STREAM_PIECE; at += STREAM_LINE)
            _mm_prefetch(from + done + at, _MM_HINT_T0);
        for (size_t at = 0; at < STREAM_PIECE; at += STREAM_LINE)
            stream_line(to + done + at, from + done + at);
    }
    return done;
}

/* By wider stores, and nothing is fetched first: 1.2 times as fast on the EPYC.
 * Returns the bytes copied: whole lines. */
__attribute__((target("avx2"))) static inline size_t
stream_wide(char *to, const char *from, size_t n)
{
    size_t done = 0;
    for (; n - done >= STREAM_LINE; done += STREAM_LINE)
        for (size_t at = done; at < done + STREAM_LINE; at += sizeof(__m256i))
            _mm256_stream_si256(
                (__m256i *)(to + at),
                _mm256_loadu_si256((const __m256i *)(from + at)));
    return done;
}

static inline void stream_copy(void *target, const void *source, size_t n)
{
    char *to = target;
    const char *from = source;
    size_t done = -(uintptr_t)to % STREAM_LINE;
    if (done > n)
        done = n;
    memcpy(to, from, done);
    if (__builtin_cpu_is("amd") && __builtin_cpu_supports("avx2"))
        done += stream_wide(to + done, from + done, n - done);
    else
        done += stream_pieces(to + done, from + done, n - done);
    for (; n - done >= STREAM_LINE; done += STREAM_LINE)
        stream_line(to + done, from + done);
    memcpy(to + done, from + done, n - done);
    _mm_sfence(); /* the data must be visible before any flag set later */
}

#define FETCH_AHEAD 1024

/* Where two cores copied from each other's caches at the same time, 1.3 times
 * as fast as `rep movsb` on the EPYC, as long as the data fit the caches; where
 * one core did, slower. Fetches nothing behind the source: another core may be
 * writing there. Returns the bytes copied: whole lines. */
__attribute__((target("avx2"))) static inline size_t
fetch_wide(char *to, const char *from, size_t n)
{
    size_t done = 0;
    for (size_t at = 0; at < FETCH_AHEAD && at < n; at += STREAM_LINE)
        _mm_prefetch(from + at, _MM_HINT_T0);
    for (; n - done >= STREAM_LINE; done += STREAM_LINE) {
        if (n - done > FETCH_AHEAD)
            _mm_prefetch(from + done + FETCH_AHEAD, _MM_HINT_T0);
        for (size_t at = done; at < done + STREAM_LINE; at += sizeof(__m256i))
            _mm256_storeu_si256(
                (__m256i *)(to + at),
                _mm256_loadu_si256((const __m256i *)(from + at)));
    }
    return done;
}

static inline void fetch_copy(void *target, const void *source, size_t n)
{
    char *to = target;
    const char *from = source;
    size_t done = __builtin_cpu_supports("avx2") ? fetch_wide(to, from, n) : 0;
    memcpy(to + done, from + done, n - done);
}
#else
#define STREAM_EXISTS 0

static inline void stream_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}

static inline void fetch_copy(void *to, const void *from, size_t n)
{
    memcpy(to, from, n);
}
#endif

#endif
