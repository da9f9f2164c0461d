/* SPDX-License-Identifier: BSD-3-Clause */
#include "halving.h"

/* Part of a block, in units that are not divided. */
struct part {
    size_t begin, end;
};

/* Part `index` of so many that it is divided into. */
static struct part part_of(struct part all, unsigned index, unsigned count)
{
    const size_t units = all.end - all.begin;
    return (struct part){all.begin + units * index / count,
                         all.begin + units * (index + 1) / count};
}

static struct slices whole(const struct halving *h)
{
    return slices_of(h->g.args, h->g.c.count);
}

static size_t begin_of(const struct halving *h, struct part part)
{
    const struct slices s = whole(h);
    return slices_at(&s, part.begin);
}

static size_t bytes_of(const struct halving *h, struct part part)
{
    const struct slices s = whole(h);
    return slices_at(&s, part.end) - slices_at(&s, part.begin);
}

/* TEMP: a whole block for each of my cluster, then for each step a part for
 * each of the k+1 partners. */
struct row {
    size_t offset, stride;
};

static struct row row_of_cluster(const struct halving *h)
{
    const bool corrects = h->g.c.count < h->g.c.n;
    return (struct row){h->temp,
                        corrects ? combine_stride(h->g.args->bytes) : 0};
}

static struct row row_of_step(const struct halving *h, unsigned step)
{
    const struct slices s = whole(h);
    const unsigned radix = h->g.c.radix;
    struct row row = row_of_cluster(h);
    size_t units = slices_units(&s);
    for (unsigned i = 0; i <= step; i++) {
        row.offset += radix * row.stride;
        units = units / radix + (units % radix != 0);
        row.stride = combine_stride(units * s.unit);
    }
    return row;
}

size_t halving_bytes(const struct halving *h)
{
    return row_of_step(h, clusters_steps(&h->g.c)).offset - h->temp;
}

/* Where the `who`-th of a row puts. */
static dcoll_place_t place(struct row row, unsigned who)
{
    return dcoll_at(DCOLL_TEMP, row.offset + who * row.stride);
}

/* The row's operands, and the own one in `mine`, to the vector. */
static void combine(const struct halving *h, struct row row, unsigned count,
                    unsigned own, dcoll_place_t mine, struct part part)
{
    const size_t at = begin_of(h, part);
    const struct operands all = {.count = count,
                                 .own = own,
                                 .row = place(row, 0),
                                 .stride = row.stride,
                                 .mine = combine_at(mine, at),
                                 .spare = place(row, own)};
    combine_in_order(h->g.s, h->g.args, &all, combine_at(h->vector, at),
                     bytes_of(h, part));
}

/* One step: `all` is in `mine`; what is put, in `source`. */
static void divide(const struct halving *h, unsigned step, unsigned weight,
                   struct part all, dcoll_place_t source, dcoll_place_t mine)
{
    const struct clusters *c = &h->g.c;
    const unsigned digit = clusters_digit(c, weight);
    const struct row row = row_of_step(h, step);
    for (unsigned e = 1; e < c->radix; e++) {
        const struct part part = part_of(all, (digit + e) % c->radix, c->radix);
        group_put_first(&h->g, clusters_partner(c, weight, e), e - 1,
                        combine_at(source, begin_of(h, part)),
                        place(row, digit), bytes_of(h, part));
    }
    group_wait_partners(&h->g, weight);
    combine(h, row, c->radix, digit, mine, part_of(all, digit, c->radix));
    h->g.s->step++;
}

/* What my partners of the first step need, to where it is put from. */
static void copy_first(const struct halving *h, struct part all)
{
    const struct part own =
        part_of(all, clusters_digit(&h->g.c, 1), h->g.c.radix);
    const size_t begin = begin_of(h, own), end = begin + bytes_of(h, own);
    dcoll_add_copy(h->g.s, h->user, h->vector, begin);
    dcoll_add_copy(h->g.s, combine_at(h->user, end), combine_at(h->vector, end),
                   h->g.args->bytes - end);
}

/* The block of cores is in `mine`. From the last step back to the first one,
 * partners give each other their parts of what they had divided. */
static void exchange(const struct halving *h, dcoll_place_t mine)
{
    const struct clusters *c = &h->g.c;
    const struct slices s = whole(h);
    const unsigned steps = clusters_steps(c);
    const bool copies = !h->direct && mine.space != h->vector.space;
    struct part all = {0, slices_units(&s)};
    unsigned weight = 1;
    if (copies && steps)
        copy_first(h, all);
    for (unsigned i = 0; i < steps; i++, weight *= c->radix) {
        divide(h, i, weight, all, copies ? h->vector : mine, mine);
        all = part_of(all, clusters_digit(c, weight), c->radix);
        mine = h->vector;
    }
    while ((weight /= c->radix)) {
        for (unsigned e = 1; e < c->radix; e++) {
            const dcoll_place_t at = combine_at(h->vector, begin_of(h, all));
            group_put(&h->g, clusters_partner(c, weight, e), e - 1, at, at,
                      bytes_of(h, all));
        }
        group_wait_partners(&h->g, weight);
        h->g.s->step++;
        all = (struct part){0, slices_units(&s)};
        for (unsigned w = 1; w < weight; w *= c->radix)
            all = part_of(all, clusters_digit(c, w), c->radix);
    }
}

static void as_core(const struct halving *h)
{
    const struct group *g = &h->g;
    const struct slices s = whole(h);
    const unsigned size = group_size(g);
    for (unsigned i = 1; i < size; i++)
        group_wait(g, g->me + i);
    if (size > 1)
        combine(h, row_of_cluster(h), size, 0, h->user,
                (struct part){0, slices_units(&s)});
    if (g->c.count < g->c.n)
        g->s->step++;
    exchange(h, size > 1 ? h->vector : h->user);
    for (unsigned i = 1; i < size; i++)
        group_put_first(g, g->me + i, i - 1, h->vector, h->vector,
                        g->args->bytes);
}

static void as_member(const struct halving *h, unsigned position)
{
    const struct group *g = &h->g;
    const unsigned core = g->me - position;
    const bool copies = !h->direct && h->user.space != h->vector.space;
    if (copies)
        dcoll_add_copy(g->s, h->user, h->vector, g->args->bytes);
    group_put_first(g, core, position - 1, copies ? h->vector : h->user,
                    place(row_of_cluster(h), position), g->args->bytes);
    g->s->step = (uint16_t)(g->s->step + 1 + 2 * clusters_steps(&g->c));
    group_wait(g, core);
}

void halving_run(const struct halving *h)
{
    const unsigned position = group_position(&h->g);
    if (position)
        as_member(h, position);
    else
        as_core(h);
}
