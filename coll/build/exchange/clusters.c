/* SPDX-License-Identifier: BSD-3-Clause */
#include <stddef.h>

#include "coll/build/exchange/clusters.h"

static unsigned largest_power(unsigned radix, unsigned n)
{
    unsigned power = 1;
    while (power <= n / radix)
        power *= radix;
    return power;
}

unsigned clusters_radix(unsigned n, unsigned radix)
{
    const unsigned most = n > 1 && n < radix ? n : radix;
    for (unsigned r = most; r > 1; r--)
        if (largest_power(r, n) == n)
            return r;
    return most;
}

struct clusters clusters_of(unsigned n, unsigned radix, unsigned rank)
{
    struct clusters c = {
        .n = n, .radix = radix, .count = largest_power(radix, n)};
    c.own = (unsigned)((((size_t)rank + 1) * c.count - 1) / n);
    return c;
}

unsigned clusters_begin(const struct clusters *c, unsigned cluster)
{
    return (unsigned)((size_t)cluster * c->n / c->count);
}

unsigned clusters_steps(const struct clusters *c)
{
    unsigned steps = 0;
    for (unsigned w = 1; w < c->count; w *= c->radix)
        steps++;
    return steps;
}

unsigned clusters_digit(const struct clusters *c, unsigned weight)
{
    return c->own / weight % c->radix;
}

unsigned clusters_partner(const struct clusters *c, unsigned weight,
                          unsigned distance)
{
    const unsigned digit = clusters_digit(c, weight);
    const unsigned other = (digit + distance) % c->radix;
    return clusters_begin(c, c->own - digit * weight + other * weight);
}
