/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/radix.h"

unsigned radix_steps(unsigned factor, unsigned ports)
{
    return (factor - 1 + ports - 1) / ports;
}

/* The fewest steps for @p n with factors up to @p limit; fills @p best with
 * these factors. n + 1: there is no such product. */
static unsigned search(unsigned n, unsigned limit, unsigned ports,
                       struct radix *best)
{
    unsigned fewest = n + 1;
    best->count = 0;
    if (n == 1)
        return 0;
    for (unsigned f = limit < n ? limit : n; f > 1; f--) {
        if (n % f)
            continue;
        struct radix rest;
        const unsigned left = search(n / f, f, ports, &rest);
        const unsigned steps = radix_steps(f, ports) + left;
        if (left > n / f || steps >= fewest)
            continue;
        fewest = steps;
        *best = rest;
        best->factor[best->count++] = f;
    }
    return fewest;
}

struct radix radix_of(unsigned n, unsigned ports)
{
    struct radix radix;
    search(n, n, ports, &radix);
    return radix;
}
