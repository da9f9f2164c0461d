/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cuts a message into one chunk per rail. Cai et al. 2009, section 4.3, have
 * two equal parts; here it is any number, in proportion to weights. Pure.
 *
 * In reading order: stripe.c, proportional.h, spread.h (over several EPs of a
 * rail), tuning/ (which rails and weights: route.h), explain.c.
 */
#include <math.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/stripe/proportional.h"

static double weight_of(const drail_stripe_t *s, unsigned rail)
{
    return s->weights ? s->weights[rail] : 1.0;
}

static int stripe_valid(const drail_stripe_t *s, double *sum)
{
    if (s->nrails < 1 || s->nrails > DRAIL_MAX_RAILS)
        return 0;
    if (s->align & (s->align - 1))
        return 0;
    *sum = 0;
    for (unsigned r = 0; r < s->nrails; r++) {
        double w = weight_of(s, r);
        if (!isfinite(w) || w < 0)
            return 0;
        *sum += w;
    }
    return isfinite(*sum) && *sum > 0;
}

static int whole(unsigned rail, size_t bytes, drail_chunk_t *chunk)
{
    *chunk = (drail_chunk_t){.rail = rail, .offset = 0, .bytes = bytes};
    return 1;
}

static unsigned heaviest(const drail_stripe_t *s)
{
    unsigned best = 0;
    for (unsigned r = 1; r < s->nrails; r++)
        if (weight_of(s, r) > weight_of(s, best))
            best = r;
    return best;
}

/* The next rail in turn among those with a weight. */
static unsigned in_turn(const drail_stripe_t *s)
{
    unsigned usable[DRAIL_MAX_RAILS], n = 0;
    for (unsigned r = 0; r < s->nrails; r++)
        if (weight_of(s, r) > 0)
            usable[n++] = r;
    return usable[s->turn % n];
}

static unsigned parts_of(const drail_stripe_t *s)
{
    unsigned n = 0;
    for (unsigned r = 0; r < s->nrails; r++)
        n += weight_of(s, r) > 0;
    return n;
}

static size_t border_of(const drail_stripe_t *s, size_t bytes)
{
    return s->align ? s->align : stripe_border(bytes, parts_of(s));
}

static int proportional(const drail_stripe_t *s, double sum, size_t bytes,
                        drail_chunk_t *chunks)
{
    size_t align = border_of(s, bytes);
    size_t begin = 0;
    long double reached = 0;
    int n = 0;

    for (unsigned r = 0; r < s->nrails && begin < bytes; r++) {
        double w = weight_of(s, r);
        if (w <= 0)
            continue;
        reached += w;
        size_t end = stripe_end(bytes, reached, sum, align);
        if (end <= begin)
            continue;
        chunks[n++] =
            (drail_chunk_t){.rail = r, .offset = begin, .bytes = end - begin};
        begin = end;
    }
    /* the last chunk gets the bytes that rounding has left */
    if (n == 0)
        return whole(heaviest(s), bytes, chunks);
    chunks[n - 1].bytes += bytes - begin;
    return n;
}

int drail_stripe(const drail_stripe_t *s, size_t bytes,
                 drail_chunk_t chunks[DRAIL_MAX_RAILS])
{
    double sum;
    if (!s || !chunks || !stripe_valid(s, &sum))
        return DRAIL_EINVAL;

    switch (s->policy) {
    case DRAIL_POLICY_FIXED:
        if (s->turn >= s->nrails)
            return DRAIL_EINVAL;
        return whole(s->turn, bytes, chunks);
    case DRAIL_POLICY_ROUNDROBIN:
        return whole(in_turn(s), bytes, chunks);
    case DRAIL_POLICY_EVEN:
    case DRAIL_POLICY_WEIGHTED:
    case DRAIL_POLICY_ADAPTIVE:
        if (bytes == 0 || bytes < s->threshold)
            return whole(heaviest(s), bytes, chunks);
        return proportional(s, sum, bytes, chunks);
    }
    return DRAIL_EINVAL;
}
