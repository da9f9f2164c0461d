/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck all-gather for k ports, any N (seed 000, section 5.1.2). Rank p keeps
 * block p + j at place j of TEMP. When it has w blocks, it gets up to k times
 * as many: port j brings blocks w + jc … w + (j+1)c - 1 from rank p + w + jc,
 * which has them at its start. c = w in whole steps; in the last, partial one
 * the N - w missing blocks are spread evenly, c = ⌈(N-w)/k⌉. Then the blocks
 * are shifted into RECV.
 *
 * The seed's last step sends the first N - (k+1)^⌊log_{k+1} N⌋ blocks to all
 * its destinations: right for k = 1 only. Without the even spreading the last
 * step costs min(w, N-w) blocks and its "same as (1), for any N" doesn't hold.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/flat.h"
#include "coll/build/grant.h"

/* The step that starts with `have` blocks: up to k messages of `chunk`, from
 * and to ranks at distances have, have + chunk, … */
struct step {
    unsigned have, chunk;
};

static struct step step_of(const dcoll_shape_t *shape, unsigned have)
{
    const unsigned missing = shape->nranks - have;
    const unsigned share = (missing + shape->ports - 1) / shape->ports;
    return (struct step){have, share < have ? share : have};
}

/* First distance of the next step. */
static unsigned step_end(const dcoll_shape_t *shape, struct step step)
{
    const unsigned end = step.have + shape->ports * step.chunk;
    return end < shape->nranks ? end : shape->nranks;
}

static void exchange(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, struct step step, grant_t grant,
                     dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks, end = step_end(shape, step);
    for (unsigned d = step.have; d < end; d += step.chunk) {
        const unsigned target = flat_before(n, rank, d);
        const unsigned count = step.chunk < end - d ? step.chunk : end - d;
        grant_take(s, grant, args, target);
        dcoll_add_put(
            s, target, (d - step.have) / step.chunk, dcoll_at(DCOLL_TEMP, 0),
            dcoll_at(DCOLL_TEMP, d * args->bytes), count * args->bytes);
    }
    for (unsigned d = step.have; d < end; d += step.chunk)
        dcoll_add_wait(s, flat_after(n, rank, d), DCOLL_DATA, 0);
}

/* To absolute order; in place, the own block is there already. */
static void shift(unsigned n, unsigned rank, const dcoll_args_t *args,
                  dcoll_schedule_t *s)
{
    const size_t bytes = args->bytes;
    const unsigned first = args->in_place ? 1 : 0;
    dcoll_add_copy(s, dcoll_at(DCOLL_TEMP, first * bytes),
                   dcoll_at(DCOLL_RECV, (rank + first) * bytes),
                   (n - rank - first) * bytes);
    dcoll_add_copy(s, dcoll_at(DCOLL_TEMP, (n - rank) * bytes),
                   dcoll_at(DCOLL_RECV, 0), rank * bytes);
}

static void close_all(const dcoll_shape_t *shape, unsigned rank, grant_t grant,
                      dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    for (unsigned have = 1; have < n;) {
        const struct step step = step_of(shape, have);
        have = step_end(shape, step);
        for (unsigned d = step.have; d < have; d += step.chunk)
            grant_close(s, grant, flat_after(n, rank, d),
                        (d - step.have) / step.chunk);
    }
}

static void generate(const dcoll_shape_t *shape, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *s)
{
    const unsigned n = shape->nranks;
    const grant_t grant = grant_among_all(args, DCOLL_TEMP);
    s->phase = 1;
    s->temp_bytes = n * args->bytes;
    dcoll_add_copy(s, board_source(args, rank), dcoll_at(DCOLL_TEMP, 0),
                   args->bytes);
    for (unsigned have = 1; have < n; s->step++) {
        const struct step step = step_of(shape, have);
        exchange(shape, args, rank, step, grant, s);
        have = step_end(shape, step);
    }
    s->phase = 2;
    shift(n, rank, args, s);
    flat_complete(s);
    close_all(shape, rank, grant, s);
}

const dcoll_algorithm_t allgather_bruck = {
    .name = "bruck",
    .collective = DCOLL_ALLGATHER,
    .summary = "k-port Bruck, last step partial, local shift (seed 000, 5.1.2)",
    .memory = "TEMP: N blocks",
    .generate = generate,
};
