/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A histogram of durations in constant memory: log-linear buckets as in
 * G. Tene's HdrHistogram. Each power of two is cut in 2^(HIST_BITS-1) equal
 * buckets, so that a value is known to better than 1 %; below 2^HIST_BITS it
 * is exact.
 */
#ifndef BENCH_HIST_H
#define BENCH_HIST_H

#include <stdint.h>

#define HIST_BITS 8
/** Values reach to 2^HIST_TOP - 1 ns (2.4 hours); longer ones count as that. */
#define HIST_TOP     43
#define HIST_HALF    (1u << (HIST_BITS - 1))
#define HIST_BUCKETS ((HIST_TOP - HIST_BITS + 2) * HIST_HALF)

/** All zero is an empty histogram. */
typedef struct hist {
    uint64_t count;
    uint64_t min, max; /**< exact; 0 when empty */
    uint64_t buckets[HIST_BUCKETS];
} hist_t;

/** Bucket of a value. */
static inline unsigned hist_index(uint64_t value)
{
    if (value >> HIST_TOP)
        value = (UINT64_C(1) << HIST_TOP) - 1;
    if (value < 2 * HIST_HALF)
        return (unsigned)value;
    unsigned shift = 64u - HIST_BITS - (unsigned)__builtin_clzll(value);
    return shift * HIST_HALF + (unsigned)(value >> shift);
}

static inline void hist_add(hist_t *hist, uint64_t value)
{
    if (!hist->count || value < hist->min)
        hist->min = value;
    if (value > hist->max)
        hist->max = value;
    hist->count++;
    hist->buckets[hist_index(value)]++;
}

/** Smallest value of a bucket. */
uint64_t hist_lowest(unsigned index);

/** Adds all that @p from holds. */
void hist_merge(hist_t *into, const hist_t *from);

/**
 * The value that a part @p q (0 … 1) of all values doesn't exceed: the middle
 * of its bucket, never outside min … max. 0 when empty.
 */
uint64_t hist_quantile(const hist_t *hist, double q);

#endif
