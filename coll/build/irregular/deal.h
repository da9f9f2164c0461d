/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bucket an element goes to: evenly, by counters (DISTRIBUTE), or by its
 * destination (COLLECT). Liu et al. 2002, section 3.2.2 C, figure 11. */
#ifndef DCOLL_DEAL_H
#define DCOLL_DEAL_H

#include <stdint.h>

#include "coll/schedule.h"

/**
 * Of the elements for one destination, a bucket gets its share of the counter's
 * period (fan divides the period, or the first buckets have a larger share) and
 * less than so many elements more. Compared with the first bucket's share it
 * gets less than …_FIRST more.
 */
#define DEAL_EXCESS       2u
#define DEAL_EXCESS_FIRST 1u

/** COLLECT: the bucket of all elements for a destination. */
static inline unsigned deal_bucket(const dcoll_deal_t *deal, unsigned dst)
{
    const unsigned ring = deal->ring;
    const unsigned at = ring ? (dst + ring - deal->origin) % ring : dst;
    return at / deal->divisor % deal->fan;
}

/** Do both deal in the same way? Whether they open their buckets does not
 *  count. */
static inline bool deal_is_alike(const dcoll_deal_t *a, const dcoll_deal_t *b)
{
    return a->fan == b->fan && a->stride == b->stride &&
           a->period == b->period && a->divisor == b->divisor &&
           a->ring == b->ring && a->origin == b->origin && a->most == b->most;
}

/** DISTRIBUTE: the first value of a destination's counter. */
static inline uint64_t deal_begin(const dcoll_deal_t *deal, unsigned dst)
{
    return dst % deal->fan;
}

/** DISTRIBUTE: the bucket of an element if the counter is @p counter; F(x). */
static inline unsigned deal_next(const dcoll_deal_t *deal, uint64_t counter)
{
    return (unsigned)(counter % deal->period % deal->fan);
}

/** DISTRIBUTE: how many of @p count elements for a destination go to @p bucket,
 * if its counter was @p counter before. */
uint64_t deal_share(const dcoll_deal_t *deal, uint64_t counter, uint64_t count,
                    unsigned bucket);

#endif
