/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather whose far dimension comes first (build/exchange/far.h). Without
 * zero copy, a rank keeps the blocks in TEMP in the order of far.h, so each
 * message is one put. With zero copy, each block is a put of its own from RECV
 * to its place in RECV: no memory is needed.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/far.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/pace.h"

struct pat {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    unsigned rank;
    dcoll_schedule_t *s;
    struct far far;
    grant_t grant;
};

/* The rank of the block at a place of the order. */
static unsigned owner(const struct pat *p, unsigned place)
{
    return flat_before(p->shape->nranks, p->rank, far_offset(&p->far, place));
}

static void put_blocks(const struct pat *p, unsigned target, unsigned port,
                       unsigned begin, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const unsigned block = owner(p, begin + i);
        dcoll_add_put(p->s, target, port,
                      block == p->rank ? board_source(p->args, block)
                                       : board_at(p->args, block),
                      board_at(p->args, block), p->args->bytes);
    }
}

static void post(const struct pat *p, const struct far_step *step)
{
    const size_t bytes = p->args->bytes;
    struct far_message m;
    for (unsigned port = 0; port < p->shape->ports; port++) {
        if (!far_message(step, port, &m))
            continue;
        const unsigned target =
            flat_after(p->shape->nranks, p->rank, m.distance);
        pace(p->s, p->args);
        grant_take(p->s, p->grant, p->args, target);
        if (p->args->zero_copy)
            put_blocks(p, target, port, step->begin, m.count);
        else
            dcoll_add_put(
                p->s, target, port, dcoll_at(DCOLL_TEMP, step->begin * bytes),
                dcoll_at(DCOLL_TEMP, m.place * bytes), m.count * bytes);
    }
}

static void receive(const struct pat *p, const struct far_step *step)
{
    struct far_message m;
    for (unsigned port = 0; port < p->shape->ports; port++) {
        if (!far_message(step, port, &m))
            continue;
        for (unsigned i = p->args->zero_copy ? m.count : 1; i-- > 0;)
            dcoll_add_wait(p->s,
                           flat_before(p->shape->nranks, p->rank, m.distance),
                           DCOLL_DATA, 0);
    }
}

/* For all ranks that put to me. */
static void change(const struct pat *p, grant_change_t *how)
{
    struct far_message m;
    for (unsigned i = 0; i < p->far.steps; i++) {
        const struct far_step step = far_step(&p->far, i);
        for (unsigned port = 0; port < p->shape->ports; port++)
            if (far_message(&step, port, &m))
                how(p->s, p->grant, p->args,
                    flat_before(p->shape->nranks, p->rank, m.distance), port);
    }
}

static void copy_out(const struct pat *p)
{
    const size_t bytes = p->args->bytes;
    for (unsigned i = 0; i < p->shape->nranks; i++) {
        const unsigned block = owner(p, i);
        if (block != p->rank || !p->args->in_place)
            flat_copy(p->s, dcoll_at(DCOLL_TEMP, i * bytes),
                      dcoll_at(DCOLL_RECV, block * bytes), bytes);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const struct pat p = {.shape = shape,
                          .args = args,
                          .rank = rank,
                          .s = s,
                          .far = far_of(shape->nranks, shape->ports),
                          .grant = grant_among_all(args, board_space(args))};
    s->phase = 1;
    s->temp_bytes = args->zero_copy ? 0 : shape->nranks * args->bytes;
    change(&p, grant_open);
    if (!args->zero_copy && (shape->nranks > 1 || !args->in_place))
        dcoll_add_copy(
            s, board_source(args, rank),
            dcoll_at(DCOLL_TEMP, far_step(&p.far, 0).begin * args->bytes),
            args->bytes);
    for (unsigned i = 0; i < p.far.steps; i++, s->step++) {
        const struct far_step step = far_step(&p.far, i);
        post(&p, &step);
        if (args->zero_copy && i == 0)
            board_begin(shape, args, rank, s);
        receive(&p, &step);
    }
    s->phase = 2;
    if (!args->zero_copy)
        copy_out(&p);
    else if (shape->nranks == 1)
        board_begin(shape, args, rank, s);
    flat_complete(s);
    change(&p, grant_close);
}

const dcoll_algorithm_t allgather_pat = {
    .name = "pat",
    .collective = DCOLL_ALLGATHER,
    .summary = "k-port Bruck, far dimension first (PAT: Jeaugey 2025)",
    .memory = "TEMP: N blocks; zero copy: none",
    .generate = generate,
};
