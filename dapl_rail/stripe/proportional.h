/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts a message in proportion to weights: where the chunk of a rail ends. Cai
 * et al. 2009, section 4.3, have two equal parts. Pure. Also for the providers.
 */
#ifndef DRAIL_PROPORTIONAL_H
#define DRAIL_PROPORTIONAL_H

#include <stddef.h>

/* Chunks begin at cache lines if a line is small compared to a chunk. Shorter
 * messages are cut into equal parts to the byte, as in the paper. */
#define STRIPE_LINE       64
#define STRIPE_PART_LINES 8

/* Chunks of a message in so many parts begin at multiples of this. */
static inline size_t stripe_border(size_t bytes, unsigned parts)
{
    return bytes / parts >= STRIPE_PART_LINES * STRIPE_LINE ? STRIPE_LINE : 1;
}

/* The end of the chunk of the rail with which the sum of the weights has
 * reached @p reached of @p sum. */
static inline size_t stripe_end(size_t bytes, long double reached, double sum,
                                size_t align)
{
    long double exact = (long double)bytes * reached / sum;
    size_t end = exact >= (long double)bytes ? bytes : (size_t)exact;
    return end - end % align;
}

#endif
