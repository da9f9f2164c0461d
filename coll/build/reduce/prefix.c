/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/pace.h"
#include "coll/build/reduce/combine.h"
#include "coll/build/reduce/prefix.h"

/* All ranks' steps are alike. */
struct step {
    unsigned number;
    unsigned covers;   /* w before the step */
    unsigned distance; /* of messages: this, twice this, … */
    bool own;          /* exclusive: messages have the sender's own operand */
};

struct prefix {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    unsigned rank;
    dcoll_schedule_t *s;
    bool exclusive;
    dcoll_place_t mine; /* my operand */
    dcoll_place_t have; /* the operands of the `covers` ranks, combined */
};

static unsigned steps_of(const struct prefix *p)
{
    return flat_steps(p->shape->nranks, p->shape->ports);
}

/* Do the steps from this one on reach rank n - 1, all without own operands? */
static bool suffices(const struct prefix *p, unsigned number, size_t covers)
{
    for (unsigned i = number; i < steps_of(p); i++)
        covers *= p->shape->ports + 1;
    return covers >= p->shape->nranks - 1;
}

static struct step step_at(const struct prefix *p, unsigned number,
                           unsigned covers)
{
    const bool own =
        p->exclusive && (number < 2 || !suffices(p, number, covers));
    return (struct step){.number = number,
                         .covers = covers,
                         .distance = own ? covers + 1 : covers,
                         .own = own};
}

/* The first step; the next one; false: there is none. */
static struct step first_step(const struct prefix *p)
{
    return step_at(p, 0, p->exclusive ? 0 : 1);
}

static bool next_step(const struct prefix *p, struct step *step)
{
    const unsigned covers = step->covers + p->shape->ports * step->distance;
    if (step->number + 1 >= steps_of(p))
        return false;
    *step = step_at(p, step->number + 1, covers);
    return true;
}

/* The rank whose message comes through a port. False: none does. */
static bool source(const struct prefix *p, const struct step *step,
                   unsigned rank, unsigned port, unsigned *from)
{
    const size_t distance = (size_t)(port + 1) * step->distance;
    const unsigned first = p->exclusive && !step->own; /* rank 0 has nothing */
    if (port >= p->shape->ports || rank < distance + first)
        return false;
    *from = rank - (unsigned)distance;
    return true;
}

static bool target(const struct prefix *p, const struct step *step,
                   unsigned port, unsigned *to)
{
    unsigned from;
    const size_t rank = p->rank + (size_t)(port + 1) * step->distance;
    *to = (unsigned)rank;
    return rank < p->shape->nranks && source(p, step, *to, port, &from);
}

/* TEMP: my operand; then for each step a place for each port's message, the
 * one from the lowest rank first, one for mine, and one for what I have then.
 */
static dcoll_place_t place(const struct prefix *p, unsigned step,
                           unsigned index)
{
    const size_t before = 1 + step * (size_t)(p->shape->ports + 2);
    return dcoll_at(DCOLL_TEMP,
                    (before + index) * combine_stride(p->args->bytes));
}

static dcoll_place_t landing(const struct prefix *p, const struct step *step,
                             unsigned port)
{
    return place(p, step->number, p->shape->ports - 1 - port);
}

static bool has_any(const struct prefix *p, const struct step *step)
{
    return !p->exclusive || (p->rank > 0 && step->covers > 0);
}

/* What I send in a step. */
static dcoll_place_t message(const struct prefix *p, const struct step *step)
{
    const dcoll_place_t both = place(p, step->number, p->shape->ports);
    if (!step->own)
        return p->have;
    if (!has_any(p, step))
        return p->mine;
    dcoll_add_combine(p->s, p->have, p->mine, both, p->args->bytes);
    return both;
}

static void send(const struct prefix *p, const struct step *step)
{
    unsigned to;
    if (!target(p, step, 0, &to))
        return;
    const dcoll_place_t from = message(p, step);
    for (unsigned port = 0; target(p, step, port, &to); port++) {
        pace(p->s, p->args);
        grant_take(p->s, GRANT_CREDIT, p->args, to);
        dcoll_add_put(p->s, to, port, from, landing(p, step, port),
                      p->args->bytes);
    }
}

/* Is there anything to send or receive in a later step? */
static bool is_last(const struct prefix *p, struct step step)
{
    unsigned peer;
    while (next_step(p, &step))
        if (target(p, &step, 0, &peer) || source(p, &step, p->rank, 0, &peer))
            return false;
    return true;
}

/* Combines the messages of the step with what I have, messages on the left. The
 * result of my last step goes straight to RECV, which may be SEND: my operand
 * is read last. */
static void receive(struct prefix *p, const struct step *step)
{
    const unsigned k = p->shape->ports;
    unsigned count = 0, from;
    for (; source(p, step, p->rank, count, &from); count++)
        dcoll_add_wait(p->s, from, DCOLL_DATA, 0);
    if (!count)
        return;
    const bool mine = has_any(p, step);
    const dcoll_place_t to = is_last(p, *step) ? dcoll_at(DCOLL_RECV, 0)
                                               : place(p, step->number, k + 1);
    const dcoll_place_t row = place(p, step->number, k - count);
    const struct operands all = {.count = count + mine,
                                 .own = mine ? count : 0,
                                 .row = row,
                                 .stride = combine_stride(p->args->bytes),
                                 .mine = mine ? p->have : row,
                                 .spare = to};
    p->have = to;
    if (all.count == 1 && to.space == DCOLL_TEMP)
        p->have = row;
    else
        combine_in_order(p->s, p->args, &all, to, p->args->bytes);
}

static void close_all(const struct prefix *p)
{
    struct step step = first_step(p);
    unsigned from;
    do
        for (unsigned i = 0; source(p, &step, p->rank, i, &from); i++)
            grant_close(p->s, GRANT_CREDIT, p->args, from, i);
    while (next_step(p, &step));
}

void prefix_generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct prefix p = {.shape = shape,
                       .args = args,
                       .rank = rank,
                       .s = s,
                       .exclusive = args->collective == DCOLL_EXSCAN,
                       .mine = dcoll_at(DCOLL_TEMP, 0),
                       .have = dcoll_at(DCOLL_TEMP, 0)};
    struct step step = first_step(&p);
    const dcoll_place_t recv = dcoll_at(DCOLL_RECV, 0);
    s->phase = 1;
    s->temp_bytes = place(&p, steps_of(&p), 0).offset;
    if (!p.exclusive || rank + 1 < shape->nranks)
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), p.mine, args->bytes);
    do {
        s->step = (uint16_t)step.number;
        send(&p, &step);
        receive(&p, &step);
    } while (next_step(&p, &step));
    if (rank == 0 && !p.exclusive)
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), recv, args->bytes);
    else if (rank > 0 && p.have.space == DCOLL_TEMP)
        dcoll_add_copy(s, p.have, recv, args->bytes);
    flat_complete(s);
    close_all(&p);
}
