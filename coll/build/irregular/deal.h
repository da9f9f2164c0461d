/* SPDX-License-Identifier: BSD-3-Clause */
/* Who gets which elements: distribution evenly, by counters, or collection by
 * destination (seed 003, section 3.2.2 C, fig. 11). */
#ifndef DCOLL_DEAL_H
#define DCOLL_DEAL_H

#include <stdint.h>

#include "coll/schedule.h"

/**
 * Of the elements for one destination, a bucket gets its part of a turn of the
 * counter (fan divides the period, or the first buckets have more of it), and
 * less than so many more; than the first bucket's part less than …_FIRST.
 */
#define DEAL_EXCESS       2u
#define DEAL_EXCESS_FIRST 1u

/** COLLECT: the bucket of all elements for this destination. */
static inline unsigned deal_bucket(const dcoll_deal_t *deal, unsigned dst)
{
    return dst / deal->divisor % deal->fan;
}

/** DISTRIBUTE: the counter of a destination, before any element. */
static inline uint64_t deal_begin(const dcoll_deal_t *deal, unsigned dst)
{
    return dst % deal->fan;
}

/** DISTRIBUTE: the bucket of an element that finds the counter so, F(x). */
static inline unsigned deal_next(const dcoll_deal_t *deal, uint64_t counter)
{
    return (unsigned)(counter % deal->period % deal->fan);
}

/** DISTRIBUTE: how many of @p count elements go to @p bucket, of a destination
 *  whose counter was @p counter before. */
uint64_t deal_share(const dcoll_deal_t *deal, uint64_t counter, uint64_t count,
                    unsigned bucket);

#endif
