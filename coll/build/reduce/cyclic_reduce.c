/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/build/exchange/bruck.h"
#include "coll/build/flat.h"
#include "coll/build/pace.h"
#include "coll/build/reduce/cyclic_reduce.h"

#define STEPS_MOST 32

const char *cyclic_reduce_refuses(const dcoll_shape_t *shape,
                                  const dcoll_args_t *args)
{
    return shape->nranks > 1 && !args->commutes ? "the operation must commute"
                                                : NULL;
}

/* TEMP: a place for each message, by its distance. The messages from smaller
 * distances have distance - 1 slices. */
static dcoll_place_t landing(const struct cyclic_reduce *r, unsigned distance)
{
    return dcoll_at(DCOLL_TEMP,
                    r->temp + (distance - 1) * slices_most(&r->ring.slices));
}

size_t cyclic_reduce_bytes(const struct cyclic_reduce *r)
{
    return landing(r, r->ring.slices.count).offset - r->temp;
}

/* Are the user's operands combined where they are? */
static bool stays(const struct cyclic_reduce *r)
{
    return r->user.space == r->ring.vector.space &&
           r->user.offset == r->ring.vector.offset;
}

/* Copies slices at distances from … end - 1 after me to the vector. */
static void copy(const struct cyclic_reduce *r, unsigned from, unsigned end)
{
    struct cyclic_part parts[2];
    const unsigned number = r->ring.me + from;
    if (from >= end || stays(r))
        return;
    const unsigned n = cyclic_parts(&r->ring, number, end - from, parts);
    for (unsigned i = 0; i < n; i++)
        dcoll_add_copy(r->ring.s, combine_at(r->user, parts[i].begin),
                       cyclic_place(&r->ring, r->ring.vector, r->ring.me,
                                    number, &parts[i]),
                       parts[i].bytes);
}

/* The parts of a message; in the first step it may come from `user`. */
static unsigned parts_of(const struct cyclic_reduce *r, bool own,
                         unsigned number, unsigned count,
                         struct cyclic_part parts[2])
{
    return own && r->direct ? cyclic_parts(&r->ring, number, count, parts)
                            : cyclic_message(&r->ring, number, count, parts);
}

static void put(const struct cyclic_reduce *r, bool own, unsigned distance,
                unsigned port, unsigned count)
{
    struct cyclic_part parts[2];
    const unsigned number = r->ring.me + distance;
    const unsigned n = parts_of(r, own, number, count, parts);
    const unsigned target = cyclic_rank(&r->ring, number);
    pace(r->ring.s, r->ring.args);
    grant_take(r->ring.s, r->grant, r->ring.args, target);
    for (unsigned i = 0; i < n; i++)
        dcoll_add_put(
            r->ring.s, target, port,
            own && r->direct ? combine_at(r->user, parts[i].begin)
                             : cyclic_place(&r->ring, r->ring.vector,
                                            r->ring.me, number, &parts[i]),
            combine_at(landing(r, distance), parts[i].before), parts[i].bytes);
}

/* Combines the message of a port with the slices from mine on. In the first
 * step, the first message is combined with the user's slices. In the last step
 * there is only my slice. */
static void combine(const struct cyclic_reduce *r, struct bruck_step step,
                    bool own, unsigned port)
{
    const bool last = step.have == 1, users = own && port == 0 && !stays(r);
    const unsigned me = r->ring.me;
    struct cyclic_part parts[2];
    unsigned distance, count;
    bruck_message(step, port, &distance, &count);
    const unsigned n = users ? cyclic_parts(&r->ring, me, count, parts)
                             : cyclic_message(&r->ring, me, count, parts);
    for (unsigned i = 0; i < n; i++) {
        const dcoll_place_t slice =
            cyclic_place(&r->ring, r->ring.vector, me, me, &parts[i]);
        const dcoll_place_t to = last ? r->result : slice;
        const dcoll_place_t from = users ? combine_at(r->user, parts[i].begin)
                                   : port > 0 ? to
                                              : slice;
        dcoll_add_combine(r->ring.s, from,
                          combine_at(landing(r, distance), parts[i].before), to,
                          parts[i].bytes);
    }
}

static void receive(const struct cyclic_reduce *r, struct bruck_step step,
                    bool own)
{
    const unsigned n = r->ring.slices.count, k = r->ring.ports;
    const bool outside = r->result.space != r->ring.vector.space;
    struct cyclic_part parts[2];
    unsigned d, count;
    for (unsigned p = 0; p < k && bruck_message(step, p, &d, &count); p++) {
        const unsigned from = cyclic_rank(&r->ring, r->ring.me + n - d);
        for (unsigned i = parts_of(r, own, r->ring.me, count, parts); i-- > 0;)
            dcoll_add_wait(r->ring.s, from, DCOLL_DATA, 0);
        if (step.have == 1 && p == 0 && outside)
            flat_complete(r->ring.s);
        combine(r, step, own, p);
    }
}

/* In the first step a rank sends its own operands, and combines what comes with
 * its own; the slices that it combines with nothing yet are copied. */
void cyclic_reduce(const struct cyclic_reduce *r)
{
    const unsigned n = r->ring.slices.count, k = r->ring.ports;
    struct bruck_step steps[STEPS_MOST];
    unsigned count = 0, d, slices;
    for (unsigned have = 1; have < n; have = steps[count++].end)
        steps[count] = bruck_step_from(n, k, have);
    const struct bruck_step *first = &steps[count - 1];
    copy(r, first->chunk, r->direct ? first->have : n);
    for (unsigned i = count; i-- > 0; r->ring.s->step++) {
        const bool own = i == count - 1;
        const struct bruck_step step = steps[i];
        for (unsigned p = 0; p < k && bruck_message(step, p, &d, &slices); p++)
            put(r, own, d, p, slices);
        receive(r, step, own);
    }
}

void cyclic_reduce_close(const struct cyclic_reduce *r)
{
    const unsigned n = r->ring.slices.count, k = r->ring.ports;
    unsigned d, count;
    for (unsigned have = 1; have < n;) {
        const struct bruck_step step = bruck_step_from(n, k, have);
        for (unsigned p = 0; p < k && bruck_message(step, p, &d, &count); p++)
            grant_close(r->ring.s, r->grant, r->ring.args,
                        cyclic_rank(&r->ring, r->ring.me + n - d), p);
        have = step.end;
    }
}
