/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the chunk of each rail ends when a message is cut in proportion to
 * weights. Cai et al. 2009, section 4.3, cut two equal parts. Pure. Also for
 * the providers.
 */
#ifndef DRAIL_PROPORTIONAL_H
#define DRAIL_PROPORTIONAL_H

#include <stddef.h>

/* Chunks begin at cache lines if a line is small compared to a chunk. Shorter
 * messages are cut into equal parts to the byte, as in the paper. */
#define STRIPE_LINE       64
#define STRIPE_PART_LINES 8

/* The chunks of a message that is cut into @p parts begin at multiples of the
 * result. */
static inline size_t stripe_border(size_t bytes, unsigned parts)
{
    return bytes / parts >= STRIPE_PART_LINES * STRIPE_LINE ? STRIPE_LINE : 1;
}

/* The end of a rail's chunk. @p reached: the sum of the weights of this rail
 * and of those before it; @p sum: of all weights. */
static inline size_t stripe_end(size_t bytes, long double reached, double sum,
                                size_t align)
{
    long double exact = (long double)bytes * reached / sum;
    size_t end = exact >= (long double)bytes ? bytes : (size_t)exact;
    return end - end % align;
}

#endif
