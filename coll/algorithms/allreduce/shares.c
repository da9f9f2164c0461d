/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Direct exchanges as in direct.c, for ranks with different numbers of ports:
 * each rank combines a share of the block by its ports (build/reduce/shares.h).
 * Shares go in pieces: in stage j the ranks send operands of piece j, and
 * results of piece j - 2, whose operands have come in the meantime. So a rank
 * with few ports and no share sends in all stages and receives in all stages,
 * and does not do one after the other. To each rank it sends both in a row:
 * what a rank with few ports sends then takes as long as the two messages of
 * others.
 *
 * A rank that has all results knows that all owners have read what was put to
 * them, and an owner has received something of the present start from each rank
 * before it puts results: only puts into RECV need a grant.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/reduce/shares.h"

/* More pieces overlap more; messages shorter than this cost more than that. */
#define PIECES_MOST   32u
#define MESSAGE_BYTES (16u << 10)
/* Most stages from the operands of a piece to its results. */
#define LAG_MOST 2u

struct run {
    const dcoll_shape_t *shape;
    const dcoll_args_t *args;
    unsigned rank;
    dcoll_schedule_t *s;
    struct shares shares;
    unsigned ports; /* that all ranks have */
    unsigned lag;   /* stages; of one piece 1: its steps fit for any N */
    grant_t grant;
    unsigned taken; /* stages whose messages have been waited for */
    bool permitted; /* grants for my results have been taken */
};

static unsigned pieces_of(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    const size_t messages = args->bytes / MESSAGE_BYTES / shape->nranks;
    const unsigned steps = UINT16_MAX / (4 * shape->nranks);
    unsigned most = steps < PIECES_MOST ? steps : PIECES_MOST;
    most = most > messages ? (unsigned)messages : most;
    return most ? most : 1;
}

static dcoll_place_t vector_at(const struct run *x, size_t offset)
{
    return dcoll_at(board_space(x->args), offset);
}

static size_t share_bytes(const struct run *x, unsigned owner)
{
    const struct shares *s = &x->shares;
    return shares_begin(s, owner, s->pieces) - shares_begin(s, owner, 0);
}

/* The place at an owner of a rank's operand. */
static dcoll_place_t row_at(const struct run *x, unsigned owner, unsigned rank,
                            unsigned piece)
{
    const size_t vector =
        x->args->zero_copy ? 0 : combine_stride(x->args->bytes);
    const size_t stride = combine_stride(share_bytes(x, owner));
    return dcoll_at(DCOLL_TEMP, vector + rank * stride +
                                    shares_begin(&x->shares, owner, piece) -
                                    shares_begin(&x->shares, owner, 0));
}

static unsigned port_of(const struct run *x, unsigned distance)
{
    return (distance - 1) % x->ports;
}

/* For each k ranks, a stage has a step for operands and one for results. */
static void set_step(const struct run *x, unsigned stage, bool results,
                     unsigned distance)
{
    const unsigned each = (x->shape->nranks - 1 + x->ports - 1) / x->ports;
    x->s->step =
        (uint16_t)(2 * (stage * each + (distance - 1) / x->ports) + results);
}

static void put_operand(const struct run *x, unsigned piece, unsigned distance)
{
    const unsigned owner = flat_after(x->shape->nranks, x->rank, distance);
    const size_t bytes = shares_bytes(&x->shares, owner, piece);
    const dcoll_place_t from =
        x->args->zero_copy ? combine_user(x->args) : vector_at(x, 0);
    if (!bytes)
        return;
    set_step(x, piece, false, distance);
    dcoll_add_put(x->s, owner, port_of(x, distance),
                  combine_at(from, shares_begin(&x->shares, owner, piece)),
                  row_at(x, owner, x->rank, piece), bytes);
}

/* Waits for what a rank has sent me in that stage, if it has: an operand of my
 * share, or a result of its own. */
static void wait_for(const struct run *x, unsigned distance, unsigned stage,
                     bool results)
{
    const struct shares *s = &x->shares;
    const unsigned from = flat_before(s->nranks, x->rank, distance);
    const unsigned piece =
        results ? stage - x->lag : stage; /* too many: none */
    if (piece >= s->pieces || !shares_bytes(s, results ? from : x->rank, piece))
        return;
    set_step(x, stage, results, distance);
    dcoll_add_wait(x->s, from, DCOLL_DATA, 0);
}

/* All that others have sent before the results of that stage. */
static void take_until(struct run *x, unsigned stage)
{
    for (unsigned d = 1; d < x->shape->nranks; d++)
        for (unsigned i = x->taken; i <= stage; i++) {
            if (i)
                wait_for(x, d, i - 1, true);
            wait_for(x, d, i, false);
        }
    x->taken = stage + 1;
}

static void combine(const struct run *x, unsigned piece)
{
    const size_t begin = shares_begin(&x->shares, x->rank, piece);
    const struct operands all = {
        .count = x->shape->nranks,
        .own = x->rank,
        .row = row_at(x, x->rank, 0, piece),
        .stride = combine_stride(share_bytes(x, x->rank)),
        .mine = combine_at(combine_user(x->args), begin),
        .spare = row_at(x, x->rank, x->rank, piece)};
    combine_in_order(x->s, x->args, &all, vector_at(x, begin),
                     shares_bytes(&x->shares, x->rank, piece));
}

static void put_result(const struct run *x, unsigned piece, unsigned distance)
{
    const unsigned target = flat_after(x->shape->nranks, x->rank, distance);
    const dcoll_place_t place =
        vector_at(x, shares_begin(&x->shares, x->rank, piece));
    set_step(x, piece + x->lag, true, distance);
    if (!x->permitted)
        grant_take(x->s, x->grant, x->args, target);
    dcoll_add_put(x->s, target, port_of(x, distance), place, place,
                  shares_bytes(&x->shares, x->rank, piece));
}

/* Permits results of those that will have some. */
static void open_grants(const struct run *x)
{
    for (unsigned d = 1; d < x->shape->nranks; d++) {
        const unsigned owner = flat_before(x->shape->nranks, x->rank, d);
        if (share_bytes(x, owner))
            grant_open(x->s, x->grant, x->args, owner, port_of(x, d));
    }
}

/* Other ranks' operands come from the vector; mine of my share from the user's
 * buffer. */
static void fill_vector(const struct run *x)
{
    const size_t begin = shares_begin(&x->shares, x->rank, 0);
    const size_t end = begin + share_bytes(x, x->rank);
    const dcoll_place_t user = combine_user(x->args);
    dcoll_add_copy(x->s, user, vector_at(x, 0), begin);
    dcoll_add_copy(x->s, combine_at(user, end), vector_at(x, end),
                   x->args->bytes - end);
}

static void exchange(struct run *x)
{
    const unsigned pieces = x->shares.pieces;
    for (unsigned stage = 0; stage < pieces + x->lag; stage++) {
        const unsigned done = stage - x->lag; /* too many: none */
        const bool results =
            stage >= x->lag && shares_bytes(&x->shares, x->rank, done);
        x->s->phase = (uint8_t)(stage + 1);
        if (results) {
            take_until(x, done);
            combine(x, done);
        }
        for (unsigned d = 1; d < x->shape->nranks; d++) {
            if (stage < pieces)
                put_operand(x, stage, d);
            if (results)
                put_result(x, done, d);
        }
        x->permitted |= results;
    }
    take_until(x, pieces + x->lag);
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    struct run x = {.shape = shape,
                    .args = args,
                    .rank = rank,
                    .s = s,
                    .shares = shares_of(shape, args, pieces_of(shape, args)),
                    .ports = shares_least_ports(shape, args),
                    .grant = args->zero_copy ? GRANT_READY : GRANT_IMPLIED};
    x.lag = x.shares.pieces < LAG_MOST ? x.shares.pieces : LAG_MOST;
    s->phase = 1;
    s->temp_bytes = row_at(&x, rank, 0, 0).offset +
                    shape->nranks * combine_stride(share_bytes(&x, rank));
    open_grants(&x);
    if (!args->zero_copy)
        fill_vector(&x);
    exchange(&x);
    if (!args->zero_copy)
        dcoll_add_copy(s, vector_at(&x, 0), dcoll_at(DCOLL_RECV, 0),
                       args->bytes);
    flat_complete(s);
}

const dcoll_algorithm_t allreduce_shares = {
    .name = "shares",
    .collective = DCOLL_ALLREDUCE,
    .summary = "each combines a share by its ports, in pieces, and puts it to "
               "all (ForestColl's bound, Zhao et al. 2024)",
    .memory = "TEMP: 2 blocks; zero copy: 1; of a rank with more ports than "
              "others up to N times its share",
    .by_ports = true,
    .generate = generate,
};
