/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/reduce/combine.h"
#include "coll/build/reduce/doubling.h"

/*
 * TEMP: for each step (the first is that of clusters) a place for each of the
 * k+1 partners. My block is in my own place; it is put to the same place of my
 * partners. The last place is for the result.
 */
static dcoll_place_t place(const struct doubling *d, unsigned step,
                           unsigned member)
{
    const size_t index = (size_t)step * d->g.c.radix + member;
    return dcoll_at(DCOLL_TEMP,
                    d->temp + index * combine_stride(d->g.args->bytes));
}

static dcoll_place_t last_place(const struct doubling *d)
{
    return place(d, 1 + clusters_steps(&d->g.c), 0);
}

size_t doubling_bytes(const struct doubling *d)
{
    return last_place(d).offset + combine_stride(d->g.args->bytes) - d->temp;
}

/* Are there clusters of several ranks? */
static bool corrects(const struct doubling *d)
{
    return d->g.c.count < d->g.c.n;
}

/* The place of my block before step number `step` of the exchange, of that
 * weight. */
static dcoll_place_t mine(const struct doubling *d, unsigned step,
                          unsigned weight)
{
    return place(d, 1 + step, clusters_digit(&d->g.c, weight));
}

dcoll_place_t doubling_own(const struct doubling *d)
{
    return corrects(d) ? place(d, 0, group_position(&d->g)) : mine(d, 0, 1);
}

static void combine(const struct doubling *d, dcoll_place_t row, unsigned count,
                    unsigned own, dcoll_place_t dst)
{
    const size_t stride = combine_stride(d->g.args->bytes);
    const struct operands all = {.count = count,
                                 .own = own,
                                 .row = row,
                                 .stride = stride,
                                 .mine = combine_at(row, own * stride),
                                 .spare = dst};
    combine_in_order(d->g.s, d->g.args, &all, dst, d->g.args->bytes);
}

/* Before it, my block is at mine(). */
static void exchange(const struct doubling *d, dcoll_place_t result)
{
    const struct clusters *c = &d->g.c;
    unsigned step = 0;
    for (unsigned w = 1; w < c->count; w *= c->radix, step++) {
        const dcoll_place_t have = mine(d, step, w);
        const bool last = w * c->radix >= c->count;
        for (unsigned e = 1; e < c->radix; e++)
            group_put_first(&d->g, clusters_partner(c, w, e), e - 1, have, have,
                            d->g.args->bytes);
        group_wait_partners(&d->g, w);
        combine(d, place(d, 1 + step, 0), c->radix, clusters_digit(c, w),
                last ? result : mine(d, step + 1, w * c->radix));
        d->g.s->step++;
    }
}

static void as_core(const struct doubling *d, dcoll_place_t result)
{
    const struct group *g = &d->g;
    const unsigned size = group_size(g);
    const bool shares = size > 1;
    const dcoll_place_t end = shares ? last_place(d) : result;
    for (unsigned i = 1; i < size; i++)
        group_wait(g, g->me + i);
    if (corrects(d)) {
        combine(d, place(d, 0, 0), size, 0,
                g->c.count > 1 ? mine(d, 0, 1) : end);
        g->s->step++;
    }
    exchange(d, end);
    for (unsigned i = 1; i < size; i++)
        group_put_first(g, g->me + i, i - 1, end, end, g->args->bytes);
    if (shares)
        dcoll_add_copy(g->s, end, result, g->args->bytes);
}

static void as_member(const struct doubling *d, unsigned position,
                      dcoll_place_t result)
{
    const struct group *g = &d->g;
    const unsigned core = g->me - position;
    const dcoll_place_t own = doubling_own(d), end = last_place(d);
    group_put_first(g, core, position - 1, own, own, g->args->bytes);
    g->s->step = (uint16_t)(g->s->step + 1 + clusters_steps(&g->c));
    group_wait(g, core);
    dcoll_add_copy(g->s, end, result, g->args->bytes);
}

void doubling_run(const struct doubling *d, dcoll_place_t result)
{
    const unsigned position = group_position(&d->g);
    if (position)
        as_member(d, position, result);
    else
        as_core(d, result);
}
