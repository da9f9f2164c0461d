/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reduce-scatter along the trees of build/exchange/far.h, in the opposite
 * direction, for operations that commute (PAT: Jeaugey 2025, arXiv 2506.20252).
 * The sum for a rank is collected along a tree. That rank is the root, at
 * offset 0. The rank at offset o + jd sends its partial sum to the rank at
 * offset o, for near distances d first. An offset is a number to the base k+1:
 * in level i, which reduces digit i to 0, d is (k+1)^i.
 *
 * Each rank takes part in the trees of all ranks, at another offset in each. If
 * blocks are short, a message has the partial sums of all trees that go from
 * its sender to its receiver: ⌈log_{k+1} N⌉ steps.
 *
 * Longer blocks would need too much memory. Then, in the lowest levels, a
 * message has one row only: the A partial sums at offsets that have the same
 * lower digits. Each row is collected before the next one begins, so that only
 * O(k log N) rows are in memory:
 *
 *   rows 1 … k → row 0: a step; rows k+2 … 2k+1 → row k+1: a step; …;
 *   then rows k+1, 2(k+1) … k(k+1) → row 0: a step; and so on.
 *
 * A row's place in memory depends on its lowest digit that is not 0: there are
 * k places for each level. Row 0 has a place of its own. The higher levels
 * begin with it, and go on as for short blocks. Rows that arrive lie in two
 * rooms of k rows, used in turn. The receiver permits each message by a credit.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/far.h"
#include "coll/build/exchange/tree.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"
#include "coll/build/pace.h"
#include "coll/build/reduce/combine.h"
#include "coll/build/reduce/cyclic_reduce.h"

#define LEVELS_MOST 32
#define ROOMS       2u

/* Levels go row by row until a row has at most so many bytes: a longer message
 * saves no time, as it takes as long as its bytes. */
#define ROW_BYTES ((size_t)256 << 10)

struct pat {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    unsigned n, k, me;
    unsigned low;     /* levels that go row by row */
    unsigned unit;    /* (k+1)^low: the number of rows */
    struct tree rows; /* along which row 0 collects all others */
    struct far far;   /* of the higher levels: offsets in units */
    unsigned places;  /* of rows, before the rooms */
    bool credits;
    unsigned puts; /* so far */
    /* by level: `puts` after the latest put from a row of this level; 0: all
     * puts from them are complete */
    unsigned sent[LEVELS_MOST];
};

/* A step of the lower levels: rows base + d, base + 2d … → row base. */
struct gathering {
    unsigned level, base;
};

static dcoll_place_t row_at(const struct pat *p, unsigned index, unsigned place)
{
    const size_t blocks = (size_t)index * p->far.n + place;
    return dcoll_at(DCOLL_TEMP, blocks * p->args->bytes);
}

/* The level of a row's lowest digit that is not 0; of row 0: `low`. */
static unsigned level_of(const struct pat *p, unsigned row)
{
    return row ? tree_up(&p->rows, row).level : p->low;
}

static unsigned index_of(const struct pat *p, unsigned row)
{
    if (row == 0)
        return 0;
    const struct tree_edge edge = tree_up(&p->rows, row);
    return edge.level * p->k + edge.port + 1;
}

/* Where the row lies that arrives in a step through a port. */
static dcoll_place_t room_at(const struct pat *p, unsigned step, unsigned port)
{
    return row_at(p, p->places + step % ROOMS * p->k + port, 0);
}

/* The blocks of a row: one less if the row's last offset is N or more. */
static unsigned blocks_of(const struct pat *p, unsigned row)
{
    return (p->n - 1 - row) / p->unit + 1;
}

/* My operand for a place of a row. */
static dcoll_place_t operand(const struct pat *p, unsigned row, unsigned place)
{
    const unsigned offset = far_offset(&p->far, place) * p->unit + row;
    return dcoll_at(DCOLL_SEND,
                    flat_before(p->n, p->me, offset) * p->args->bytes);
}

static void copy_operands(const struct pat *p, unsigned row, unsigned place,
                          unsigned end)
{
    for (; place < end; place++)
        flat_copy(p->s, operand(p, row, place),
                  row_at(p, index_of(p, row), place), p->args->bytes);
}

static void send(struct pat *p, unsigned distance, unsigned port,
                 dcoll_place_t src, dcoll_place_t dst, unsigned blocks)
{
    const unsigned target = flat_before(p->n, p->me, distance);
    pace(p->s, p->args);
    if (p->credits)
        dcoll_add_wait(p->s, target, DCOLL_CREDIT, 0);
    dcoll_add_put(p->s, target, port, src, dst, blocks * p->args->bytes);
    p->puts++;
}

static void permit(const struct pat *p, unsigned distance, unsigned port)
{
    if (p->credits)
        dcoll_add_notify(p->s, flat_after(p->n, p->me, distance), port,
                         DCOLL_CREDIT);
}

/* A message, and what it is combined with: blocks of a row from a place on,
 * at `from`, or my operands. */
struct arrival {
    unsigned distance, row, place, blocks;
    bool own;
    dcoll_place_t room, from, to;
};

static void collect(const struct pat *p, const struct arrival *a)
{
    const size_t bytes = p->args->bytes;
    dcoll_add_wait(p->s, flat_after(p->n, p->me, a->distance), DCOLL_DATA, 0);
    for (unsigned i = 0; a->own && i < a->blocks; i++)
        dcoll_add_combine(p->s, operand(p, a->row, a->place + i),
                          combine_at(a->room, i * bytes),
                          combine_at(a->to, i * bytes), bytes);
    if (!a->own)
        dcoll_add_combine(p->s, a->from, a->room, a->to, a->blocks * bytes);
}

/* ------------------------------------------------- lower levels: rows --- */

/* The steps that collect one row with the levels below. */
static unsigned gatherings(const struct pat *p, unsigned level)
{
    return (flat_power(p->k + 1, level) - 1) / p->k;
}

static struct gathering gathering_of(const struct pat *p, unsigned step)
{
    unsigned level = p->low, base = 0;
    for (; step < gatherings(p, level) - 1; level--) {
        const unsigned each = gatherings(p, level - 1);
        base += step / each * flat_power(p->k + 1, level - 1);
        step %= each;
    }
    return (struct gathering){level - 1, base};
}

static void permit_rows(const struct pat *p, unsigned step)
{
    if (step >= gatherings(p, p->low))
        return;
    const struct gathering g = gathering_of(p, step);
    for (unsigned port = 0; port < p->k; port++)
        permit(p, (port + 1) * flat_power(p->k + 1, g.level), port);
}

/* Before new sums are written to the rows of a level: waits until the rank's
 * puts that read the old sums from there are complete. */
static void reuse(struct pat *p, unsigned level)
{
    if (p->sent[level])
        dcoll_add_complete_first(p->s, p->sent[level]);
    p->sent[level] = 0;
}

static void send_rows(struct pat *p, struct gathering g, unsigned step)
{
    const unsigned d = flat_power(p->k + 1, g.level);
    if (g.level == 0)
        reuse(p, 0);
    for (unsigned port = 0; port < p->k; port++) {
        const unsigned row = g.base + (port + 1) * d;
        if (g.level == 0)
            copy_operands(p, row, 0, blocks_of(p, row));
        send(p, (port + 1) * d, port, row_at(p, index_of(p, row), 0),
             room_at(p, step, port), blocks_of(p, row));
    }
    p->sent[g.level] = p->puts;
}

static void collect_rows(struct pat *p, struct gathering g, unsigned step)
{
    const unsigned d = flat_power(p->k + 1, g.level);
    const unsigned level = level_of(p, g.base);
    const dcoll_place_t row = row_at(p, index_of(p, g.base), 0);
    if (g.level == 0)
        reuse(p, level);
    for (unsigned port = 0; port < p->k; port++) {
        const unsigned distance = (port + 1) * d;
        const struct arrival a = {.distance = distance,
                                  .row = g.base,
                                  .blocks = blocks_of(p, g.base + distance),
                                  .own = g.level == 0 && port == 0,
                                  .room = room_at(p, step, port),
                                  .from = row,
                                  .to = row};
        collect(p, &a);
        if (a.own)
            copy_operands(p, g.base, a.blocks, blocks_of(p, g.base));
    }
}

static void lower_levels(struct pat *p)
{
    for (unsigned i = 0; i < gatherings(p, p->low); i++, p->s->step++) {
        const struct gathering g = gathering_of(p, i);
        send_rows(p, g, i);
        collect_rows(p, g, i);
        permit_rows(p, i + ROOMS);
    }
}

/* ----------------------------------------- higher levels: within row 0 --- */

static dcoll_place_t landing(const struct pat *p, unsigned place)
{
    return row_at(p, p->places + (p->low ? ROOMS * p->k : 0), place);
}

static void send_far(struct pat *p, const struct far_step *step, bool own)
{
    struct far_message m;
    for (unsigned port = 0; port < p->k; port++) {
        if (!far_message(step, port, &m))
            continue;
        if (own)
            copy_operands(p, 0, m.place, m.place + m.count);
        send(p, m.distance * p->unit, port, row_at(p, 0, m.place),
             landing(p, m.place), m.count);
    }
}

static void collect_far(const struct pat *p, const struct far_step *step,
                        bool own)
{
    const dcoll_place_t row = row_at(p, 0, step->begin);
    const dcoll_place_t to = step->count == 1 ? dcoll_at(DCOLL_RECV, 0) : row;
    struct far_message m;
    for (unsigned port = 0; port < p->k; port++) {
        if (!far_message(step, port, &m))
            continue;
        const struct arrival a = {.distance = m.distance * p->unit,
                                  .place = step->begin,
                                  .blocks = m.count,
                                  .own = own && port == 0,
                                  .room = landing(p, m.place),
                                  .from = port ? to : row,
                                  .to = to};
        collect(p, &a);
        if (a.own)
            copy_operands(p, 0, step->begin + m.count,
                          step->begin + step->count);
    }
}

static void permit_far(const struct pat *p)
{
    struct far_message m;
    for (unsigned i = 0; i < p->far.steps; i++) {
        const struct far_step step = far_step(&p->far, i);
        for (unsigned port = 0; port < p->k; port++)
            if (far_message(&step, port, &m))
                permit(p, m.distance * p->unit, port);
    }
}

static void higher_levels(struct pat *p)
{
    for (unsigned i = p->far.steps; i-- > 0; p->s->step++) {
        const struct far_step step = far_step(&p->far, i);
        const bool own = !p->low && i + 1 == p->far.steps;
        send_far(p, &step, own);
        collect_far(p, &step, own);
    }
}

/* The fewest levels that go row by row; the highest one never does. */
static unsigned low_levels(const dcoll_shape_t *shape, size_t bytes)
{
    const unsigned n = shape->nranks, base = shape->ports + 1;
    const unsigned steps = flat_steps(n, shape->ports);
    unsigned low = 0;
    while (low + 1 < steps &&
           (n - 1) / flat_power(base, low) >= ROW_BYTES / bytes)
        low++;
    return low;
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks, k = shape->ports;
    const unsigned low = args->bytes ? low_levels(shape, args->bytes) : 0;
    const unsigned unit = flat_power(k + 1, low);
    struct pat p = {.args = args,
                    .s = s,
                    .n = n,
                    .k = k,
                    .me = rank,
                    .low = low,
                    .unit = unit,
                    .rows = {.n = unit, .k = k},
                    .far = far_of((n - 1) / unit + 1, k),
                    .places = low * k + 1,
                    .credits = low || args->depth == 1};
    s->phase = 1;
    s->temp_bytes = n > 1 ? landing(&p, p.far.n).offset : 0;
    for (unsigned i = 0; i < ROOMS; i++)
        permit_rows(&p, i);
    permit_far(&p);
    lower_levels(&p);
    s->phase = 2;
    higher_levels(&p);
    if (n == 1)
        dcoll_add_copy(s, dcoll_at(DCOLL_SEND, 0), dcoll_at(DCOLL_RECV, 0),
                       args->bytes);
    flat_complete(s);
}

const dcoll_algorithm_t reduce_scatter_block_pat = {
    .name = "pat",
    .collective = DCOLL_REDUCE_SCATTER_BLOCK,
    .summary = "k-port Bruck reversed, far dimension last, little memory, for "
               "operations that commute (PAT: Jeaugey 2025)",
    .memory = "TEMP: 2N blocks; longer ones: A (2 + 2k + ik) for A = "
              "ceil(N / (k+1)^i), the most that are at most 256 KiB",
    .refuses = cyclic_reduce_refuses,
    .generate = generate,
};
