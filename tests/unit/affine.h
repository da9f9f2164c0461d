/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An operation on bytes that is associative and does not commute, so that the
 * order of ranks shows: maps x -> a x + b modulo 16, one after the other. a is
 * odd, 2 * (bits 5 to 7) + 1, b bits 0 to 3; of bit 4, exclusive or.
 */
#ifndef TESTS_AFFINE_H
#define TESTS_AFFINE_H

#include "coll/dcoll.h"

static inline unsigned char affine(unsigned char left, unsigned char right)
{
    unsigned a = 2u * (left >> 5) + 1, b = left & 15u;
    unsigned c = 2u * (right >> 5) + 1, d = right & 15u;
    unsigned both = ((left ^ right) & 16u) | ((a * d + b) & 15u);
    return (unsigned char)(((a * c & 15u) >> 1) << 5 | both);
}

/* dcoll_reduction_t.combine, of elements of one byte. */
static inline void affine_combine(void *context, const void *left,
                                  const void *right, void *result, size_t count)
{
    const unsigned char *x = left, *y = right;
    unsigned char *to = result;
    for (size_t i = 0; i < count; i++)
        to[i] = affine(x[i], y[i]);
}

static const dcoll_reduction_t affine_reduction = {1, affine_combine, NULL,
                                                   false};

#endif
