/* SPDX-License-Identifier: BSD-3-Clause */
/* A number of ranks as a product: the dimensions of the standard exchange. */
#ifndef DCOLL_RADIX_H
#define DCOLL_RADIX_H

/** Enough for any unsigned. */
#define RADIX_MAX 32

struct radix {
    unsigned factor[RADIX_MAX], count;
};

/** Steps of an exchange among @p factor ranks: ⌈(factor-1)/k⌉. */
unsigned radix_steps(unsigned factor, unsigned ports);

/** The product n = f1 * f2 … for which exchanges in groups of f1, then f2 …
 *  with @p ports take the fewest steps, ⌈(f1-1)/k⌉ + ⌈(f2-1)/k⌉ …; the
 *  larger factors if several have as few. A power of k+1: k+1 each time. */
struct radix radix_of(unsigned n, unsigned ports);

#endif
