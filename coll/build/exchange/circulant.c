/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/circulant.h"

struct circulant circulant_of(unsigned n)
{
    struct circulant c = {.n = n};
    while ((1ull << c.q) < n)
        c.q++;
    c.skip[c.q] = n;
    for (unsigned k = c.q; k-- > 0;)
        c.skip[k] = c.skip[k + 1] / 2 + c.skip[k + 1] % 2;
    return c;
}

/* The smallest skip of a rank's sum. */
static unsigned base_of(const struct circulant *c, unsigned rank)
{
    unsigned k = c->q;
    while (rank > 0)
        if (rank >= c->skip[--k])
            rank -= c->skip[k];
    return k;
}

struct search {
    const struct circulant *c;
    unsigned low, high;
    bool used[CIRCULANT_ROUNDS_MAX + 1];
};

/* Adds unused skips below `end` to the sum, the larger ones first, until it is
 * above low and at most high; if there is no such sum, low itself is right.
 * Sets the last skip that it adds. That must be the base of the rank with this
 * sum: other skips may have the same sum. */
static bool find(const struct search *s, unsigned sum, unsigned end,
                 unsigned *last)
{
    for (unsigned k = end; k-- > 0;) {
        const unsigned more = sum + s->c->skip[k];
        if (s->used[k] || more > s->high)
            continue;
        if (more <= s->low && find(s, more, k, last))
            return true;
        if (more < s->low || base_of(s->c, more % s->c->n) != k)
            continue;
        *last = k;
        return true;
    }
    return false;
}

int circulant_block(const struct circulant *c, unsigned rank, unsigned k)
{
    const unsigned base = base_of(c, rank), q = c->q;
    struct search s = {.c = c};
    unsigned last = q;
    s.used[base] = true;
    for (unsigned i = 0; i <= k; i++) {
        s.low = rank + c->n - c->skip[i + 1];
        s.high = rank + c->n - c->skip[i];
        find(&s, 0, q + 1, &last);
        s.used[last] = true;
    }
    return last == q ? (int)base : (int)last - (int)q;
}

unsigned circulant_first(const struct circulant *c, unsigned pieces)
{
    return (c->q - (pieces - 1) % c->q) % c->q;
}

unsigned circulant_last(const struct circulant *c, unsigned pieces)
{
    return circulant_first(c, pieces) + pieces + c->q - 2;
}

bool circulant_piece(const struct circulant *c, unsigned pieces, int block,
                     unsigned round, unsigned *piece)
{
    const long number =
        block + (long)(round - round % c->q) - (long)circulant_first(c, pieces);
    *piece = number < (long)pieces ? (unsigned)number : pieces - 1;
    return number >= 0;
}
