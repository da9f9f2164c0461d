/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of ranks as products: the dimensions of the standard exchange. */
#ifndef DCOLL_RADIX_H
#define DCOLL_RADIX_H

/** Enough for any unsigned. */
#define RADIX_MAX 32

struct radix {
    unsigned factor[RADIX_MAX], count;
};

/** Of an exchange among so many ranks: ⌈(factor-1)/k⌉. */
unsigned radix_steps(unsigned factor, unsigned ports);

/** The product n = f1 * f2 … for which exchanges in groups of f1, then f2 …
 *  with @p ports take the fewest steps, ⌈(f1-1)/k⌉ + ⌈(f2-1)/k⌉ …; large
 *  factors if in doubt. A power of k+1: k+1 each time. */
struct radix radix_of(unsigned n, unsigned ports);

#endif
