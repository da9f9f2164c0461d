/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/reduce/halving.h"

/* A part of the block, in units. */
struct part {
    size_t begin, end;
};

/* Divides @all into @count nearly equal parts of whole units; returns the one
 * with this index. */
static struct part part_of(struct part all, unsigned index, unsigned count)
{
    const size_t units = all.end - all.begin;
    return (struct part){all.begin + units * index / count,
                         all.begin + units * (index + 1) / count};
}

static struct slices whole(const struct halving *h)
{
    return slices_of(h->g.args, h->g.c.n);
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

/* Partners differ only in the digit of that weight. */
struct stage {
    unsigned factor, weight, digit;
};

static struct stage stage_of(const struct halving *h, unsigned index)
{
    struct stage stage = {.factor = h->stages.factor[index], .weight = 1};
    for (unsigned i = 0; i < index; i++)
        stage.weight *= h->stages.factor[i];
    stage.digit = h->g.me / stage.weight % stage.factor;
    return stage;
}

static unsigned other_digit(const struct stage *stage, unsigned distance)
{
    return (stage->digit + distance) % stage->factor;
}

static unsigned partner(const struct halving *h, const struct stage *stage,
                        unsigned distance)
{
    return h->g.me - stage->digit * stage->weight +
           other_digit(stage, distance) * stage->weight;
}

/* The part that I have before a stage. */
static struct part part_before(const struct halving *h, unsigned index)
{
    const struct slices s = whole(h);
    struct part part = {0, slices_units(&s)};
    for (unsigned i = 0; i < index; i++) {
        const struct stage stage = stage_of(h, i);
        part = part_of(part, stage.digit, stage.factor);
    }
    return part;
}

/* TEMP: for each stage a place for each partner's part; my own place is spare.
 */
struct row {
    size_t offset, stride;
};

static struct row row_of(const struct halving *h, unsigned index)
{
    const struct slices s = whole(h);
    struct row row = {h->temp, 0};
    size_t units = slices_units(&s);
    for (unsigned i = 0;; i++) {
        const unsigned factor = i < h->stages.count ? h->stages.factor[i] : 1;
        units = units / factor + (units % factor != 0);
        row.stride = combine_stride(units * s.unit);
        if (i == index)
            return row;
        row.offset += factor * row.stride;
    }
}

size_t halving_bytes(const struct halving *h)
{
    return row_of(h, h->stages.count).offset - h->temp;
}

static dcoll_place_t place(struct row row, unsigned member)
{
    return dcoll_at(DCOLL_TEMP, row.offset + member * row.stride);
}

/* The partners in the order of steps, k in a step, one per port. */
static unsigned port_of(const struct halving *h, unsigned distance)
{
    return (distance - 1) % h->g.ports;
}

static uint16_t step_of(const struct halving *h, unsigned first,
                        unsigned distance)
{
    return (uint16_t)(first + (distance - 1) / h->g.ports);
}

static void wait_for(const struct halving *h, const struct stage *stage,
                     unsigned first)
{
    for (unsigned e = 1; e < stage->factor; e++) {
        h->g.s->step = step_of(h, first, e);
        group_wait(&h->g, partner(h, stage, stage->factor - e));
    }
    h->g.s->step = (uint16_t)(first + radix_steps(stage->factor, h->g.ports));
}

/* My part is at `mine`; puts read from `source`. */
static void divide(const struct halving *h, unsigned index,
                   dcoll_place_t source, dcoll_place_t mine)
{
    const struct stage stage = stage_of(h, index);
    const struct part all = part_before(h, index);
    const struct part own = part_before(h, index + 1);
    const struct row row = row_of(h, index);
    const unsigned first = h->g.s->step;
    group_put_t *const put = h->once ? group_put_first : group_put;
    for (unsigned e = 1; e < stage.factor; e++) {
        const struct part part =
            part_of(all, other_digit(&stage, e), stage.factor);
        h->g.s->step = step_of(h, first, e);
        put(&h->g, partner(h, &stage, e), port_of(h, e),
            combine_at(source, begin_of(h, part)), place(row, stage.digit),
            bytes_of(h, part));
    }
    wait_for(h, &stage, first);
    const struct operands operands = {.count = stage.factor,
                                      .own = stage.digit,
                                      .row = place(row, 0),
                                      .stride = row.stride,
                                      .mine =
                                          combine_at(mine, begin_of(h, own)),
                                      .spare = place(row, stage.digit)};
    combine_in_order(h->g.s, h->g.args, &operands,
                     combine_at(h->vector, begin_of(h, own)), bytes_of(h, own));
}

/* The second half of a stage: results to all partners. */
static void give(const struct halving *h, unsigned index)
{
    const struct stage stage = stage_of(h, index);
    const struct part have = part_before(h, index + 1);
    const dcoll_place_t at = combine_at(h->vector, begin_of(h, have));
    const unsigned first = h->g.s->step;
    for (unsigned e = 1; e < stage.factor; e++) {
        h->g.s->step = step_of(h, first, e);
        group_put_first(&h->g, partner(h, &stage, e), port_of(h, e), at, at,
                        bytes_of(h, have));
    }
    wait_for(h, &stage, first);
}

/* Copies the parts for my partners of the first stage to the vector. */
static void copy_first(const struct halving *h)
{
    const struct part own = part_before(h, 1);
    const size_t begin = begin_of(h, own), end = begin + bytes_of(h, own);
    dcoll_add_copy(h->g.s, h->user, h->vector, begin);
    dcoll_add_copy(h->g.s, combine_at(h->user, end), combine_at(h->vector, end),
                   h->g.args->bytes - end);
}

struct halved halving_part(const struct halving *h, unsigned number)
{
    struct halving other = *h;
    other.g.me = number;
    const struct part part = part_before(&other, h->stages.count);
    return (struct halved){begin_of(h, part), bytes_of(h, part)};
}

/* For all ranks that put to me. */
static void change(const struct halving *h, grant_change_t *how)
{
    for (unsigned i = 0; i < h->stages.count; i++) {
        const struct stage stage = stage_of(h, i);
        for (unsigned e = 1; e < stage.factor; e++)
            how(h->g.s, h->g.grant, h->g.args,
                group_rank(&h->g, partner(h, &stage, stage.factor - e)),
                port_of(h, e));
    }
}

void halving_open(const struct halving *h)
{
    change(h, grant_open);
}

void halving_close(const struct halving *h)
{
    change(h, grant_close);
}

void halving_run(const struct halving *h)
{
    const bool copies = !h->direct && h->user.space != h->vector.space;
    if (copies && h->stages.count)
        copy_first(h);
    for (unsigned i = 0; i < h->stages.count; i++)
        divide(h, i, i || copies ? h->vector : h->user,
               i ? h->vector : h->user);
    for (unsigned i = h->once ? 0 : h->stages.count; i-- > 0;)
        give(h, i);
}
