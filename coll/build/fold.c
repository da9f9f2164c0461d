/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Standard exchange all-gather for k ports (seed 000, section 5.1.2). With N a
 * power of k+1: in step i the k+1 ranks that differ in digit i only, to the
 * base k+1, exchange all they have, (k+1)^i blocks, one peer a port.
 *
 * Else with two correction steps: let M be the largest such power below N. The
 * ranks form M clusters of at most k+1 ranks that follow each other. First the
 * members put their blocks to the cluster's core, its first rank; the cores do
 * the exchange; then they put all blocks to their members, one a port.
 *
 * The seed only says that correction steps are needed, and with eq. (4) that
 * the steps become (k+1) * ⌊log_{k+1} N⌋ for the same bytes. This takes
 * ⌊log_{k+1} N⌋ + 2 steps, never more but for k = 1 and N = 3, and about N + 1
 * blocks more: eq. (4) doesn't hold for it.
 */
#include "flat.h"
#include "fold.h"
#include "grant.h"
#include "pace.h"

struct fold {
    const dcoll_args_t *args;
    dcoll_schedule_t *s;
    grant_t grant;
    unsigned n, rank, radix;
    unsigned clusters, cluster; /**< M, own */
};

/* First rank of a cluster; of cluster M: N. */
static unsigned begin(const struct fold *f, unsigned cluster)
{
    return (unsigned)((size_t)cluster * f->n / f->clusters);
}

static unsigned largest_power(unsigned radix, unsigned n)
{
    unsigned power = 1;
    while (power <= n / radix)
        power *= radix;
    return power;
}

static struct fold make(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, unsigned ports, dcoll_schedule_t *s)
{
    struct fold f = {.args = args,
                     .s = s,
                     .grant = grant_among_all(args, board_space(args)),
                     .n = shape->nranks,
                     .rank = rank,
                     .radix = ports + 1};
    f.clusters = largest_power(f.radix, f.n);
    f.cluster = (unsigned)((((size_t)rank + 1) * f.clusters - 1) / f.n);
    return f;
}

/* Core of the cluster at @p distance in the group of clusters that differ in
 * the digit of @p weight only. */
static unsigned partner(const struct fold *f, unsigned weight,
                        unsigned distance)
{
    const unsigned digit = f->cluster / weight % f->radix;
    const unsigned other = (digit + distance) % f->radix;
    return begin(f, f->cluster - digit * weight + other * weight);
}

static void put(const struct fold *f, unsigned target, unsigned port,
                unsigned first, unsigned end)
{
    const dcoll_place_t place = board_at(f->args, first);
    pace(f->s, f->args);
    grant_take(f->s, f->grant, f->args, target);
    dcoll_add_put(f->s, target, port, place, place,
                  (end - first) * f->args->bytes);
}

/* For all that put to this rank. */
static void grant_all(const struct fold *f, grant_change_t *change)
{
    const unsigned core = begin(f, f->cluster);
    if (f->rank != core) {
        change(f->s, f->grant, f->args, core, f->rank - core - 1);
        return;
    }
    for (unsigned r = core + 1; r < begin(f, f->cluster + 1); r++)
        change(f->s, f->grant, f->args, r, r - core - 1);
    for (unsigned w = 1; w < f->clusters; w *= f->radix)
        for (unsigned e = 1; e < f->radix; e++)
            change(f->s, f->grant, f->args, partner(f, w, f->radix - e), e - 1);
}

static void exchange(const struct fold *f)
{
    f->s->phase = 2;
    for (unsigned w = 1; w < f->clusters; w *= f->radix, f->s->step++) {
        const unsigned first = f->cluster - f->cluster % w;
        for (unsigned e = 1; e < f->radix; e++)
            put(f, partner(f, w, e), e - 1, begin(f, first),
                begin(f, first + w));
        for (unsigned e = 1; e < f->radix; e++)
            dcoll_add_wait(f->s, partner(f, w, f->radix - e), DCOLL_DATA, 0);
    }
}

static void as_core(const struct fold *f)
{
    const unsigned end = begin(f, f->cluster + 1);
    for (unsigned r = f->rank + 1; r < end; r++)
        dcoll_add_wait(f->s, r, DCOLL_DATA, 0);
    if (f->clusters < f->n)
        f->s->step++;
    exchange(f);
    f->s->phase = 3;
    for (unsigned r = f->rank + 1; r < end; r++)
        put(f, r, r - f->rank - 1, 0, f->n);
}

static void as_member(const struct fold *f, unsigned core)
{
    put(f, core, f->rank - core - 1, f->rank, f->rank + 1);
    f->s->phase = 3;
    for (unsigned w = 1; w < f->clusters; w *= f->radix)
        f->s->step++;
    f->s->step++;
    dcoll_add_wait(f->s, core, DCOLL_DATA, 0);
}

void fold_allgather(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, unsigned ports, dcoll_schedule_t *s)
{
    const struct fold f = make(shape, args, rank, ports, s);
    const unsigned core = begin(&f, f.cluster);
    s->phase = 1;
    grant_all(&f, grant_open);
    board_begin(shape, args, rank, s);
    if (rank == core)
        as_core(&f);
    else
        as_member(&f, core);
    board_end(shape, args, rank, s);
    flat_complete(s);
    grant_all(&f, grant_close);
}
