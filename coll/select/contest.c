/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/select/contest.h"

#include "coll/algorithms/algorithms.h"
#include "coll/select/median.h"

/* Calls of a round, and of a contender, that count. */
#define COUNTED (CONTEST_ROUND - 1)
#define TIMES   (CONTEST_ROUNDS * COUNTED)
#define GAIN    0.9 /* part of the time that makes the change worth it */

_Static_assert(TIMES <= MEDIAN_MOST, "more times than median() takes");

/* Between nodes that wires join, or within a node, and for blocks of these
 * bytes (different ones: on average), each has been the fastest somewhere,
 * depending on hosts, cores and rates; and on how fast the kernel reads another
 * rank's memory. */
static const struct {
    const dcoll_algorithm_t *algorithm;
    bool within;
    size_t from, below;
} plausible[] = {
    {&allgather_pull, true, 65536, SIZE_MAX},
    {&alltoall_pull, true, 65536, SIZE_MAX},
    {&allgather_smp_bruck, false, 0, 32768},
    {&allgather_smp_direct, false, 0, SIZE_MAX},
    {&allgather_smp_gather_bcast, false, 0, 4096},
    {&alltoall_smp_direct, false, 0, 262144},
    {&alltoall_smp_bruck, false, 0, 8192},
    {&alltoall_smp_gather_scatter, false, 0, 1024},
    {&alltoall_direct, false, 16384, SIZE_MAX},
    {&bcast_smp, false, 0, 1048576},
    {&bcast_smp_circulant, false, 16384, SIZE_MAX},
    {&bcast_binomial, false, 0, 16384},
};
#define PLAUSIBLE (sizeof plausible / sizeof *plausible)

/* 0: the blocks are equal. */
static size_t bytes_of_all(const dcoll_shape_t *shape, const dcoll_args_t *args)
{
    return args->begin ? args->begin[shape->nranks] : 0;
}

static bool is_plausible(size_t i, const dcoll_shape_t *shape,
                         const dcoll_args_t *args)
{
    const size_t bytes =
        args->begin ? bytes_of_all(shape, args) / shape->nranks : args->bytes;
    return plausible[i].algorithm->collective == args->collective &&
           plausible[i].within == (shape->nnodes == 1) &&
           bytes >= plausible[i].from && bytes < plausible[i].below;
}

static unsigned class_of(size_t bytes)
{
    return 63 - (unsigned)__builtin_clzll(bytes | 1);
}

struct contest *contest_of(struct contests *all, const dcoll_shape_t *shape,
                           const dcoll_args_t *args)
{
    static const unsigned places[DCOLL_COLLECTIVES] = {
        [DCOLL_ALLGATHER] = 0, [DCOLL_ALLTOALL] = 1, [DCOLL_BCAST] = 2};
    const unsigned class = class_of(args->bytes);
    if (class >= CONTEST_SIZES || (args->begin && shape->nnodes > 1))
        return NULL;
    for (size_t i = 0; i < PLAUSIBLE; i++)
        if (is_plausible(i, shape, args))
            return &all->of[places[args->collective]][class];
    return NULL;
}

static bool serves(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                   const dcoll_args_t *args)
{
    dcoll_args_t copied = *args;
    copied.zero_copy = false;
    return !dcoll_refusal(a, shape, &copied);
}

/* Of different blocks the longest and all together count. */
static bool counts(const struct contest *c, const dcoll_shape_t *shape,
                   const dcoll_args_t *args)
{
    return c->args.bytes == args->bytes && c->args.root == args->root &&
           c->args.in_place == args->in_place &&
           c->all == bytes_of_all(shape, args);
}

/* Majority vote (Boyer and Moore 1991): a program may use several sizes of a
 * class. */
static bool is_due(struct contest *c, const dcoll_shape_t *shape,
                   const dcoll_args_t *args)
{
    if (!c->seen) {
        c->args = *args;
        c->all = bytes_of_all(shape, args);
    }
    c->seen += counts(c, shape, args) ? 1 : -1u;
    return c->seen > CONTEST_AFTER;
}

/* The program may go on with other calls of the class only: these may begin a
 * contest of their own. */
static bool is_left(struct contest *c, const dcoll_shape_t *shape,
                    const dcoll_args_t *args)
{
    c->others = counts(c, shape, args) ? 0 : c->others + 1;
    return c->others > CONTEST_AFTER;
}

static void begin(struct contest *c, const dcoll_shape_t *shape,
                  const dcoll_args_t *args, const dcoll_algorithm_t *ruled)
{
    c->contenders[c->count++] = ruled;
    for (size_t i = 0; i < PLAUSIBLE; i++) {
        const dcoll_algorithm_t *a = plausible[i].algorithm;
        if (is_plausible(i, shape, args) && a != ruled &&
            c->count < CONTEST_MOST && serves(a, shape, args))
            c->contenders[c->count++] = a;
    }
    c->over = c->count == 1;
}

static void take(const dcoll_algorithm_t *a, dcoll_args_t *args,
                 const dcoll_algorithm_t **algorithm)
{
    if (a == *algorithm)
        return;
    *algorithm = a;
    args->zero_copy = false;
}

bool contest_next(struct contest *c, const dcoll_shape_t *shape,
                  dcoll_args_t *args, const dcoll_algorithm_t **algorithm)
{
    if (c->over) {
        if (c->winner && serves(c->winner, shape, args))
            take(c->winner, args, algorithm);
        return false;
    }
    if (c->count && is_left(c, shape, args))
        *c = (struct contest){0};
    if (!c->count && is_due(c, shape, args))
        begin(c, shape, args, *algorithm);
    if (!c->count || c->over || !counts(c, shape, args))
        return false;
    take(c->contenders[c->calls / CONTEST_ROUND % c->count], args, algorithm);
    return true;
}

bool contest_record(struct contest *c, double seconds)
{
    const unsigned at = c->calls % CONTEST_ROUND;
    const unsigned turn = c->calls / CONTEST_ROUND;
    const unsigned round = turn / c->count, contender = turn % c->count;
    if (at)
        c->seconds[contender * TIMES + round * COUNTED + at - 1] = seconds;
    return ++c->calls == CONTEST_ROUNDS * CONTEST_ROUND * c->count;
}

/* In each round: times of few calls are noisy, the more so if ranks share
 * cores. */
static bool is_faster(const double *its, const double *ruled)
{
    unsigned i = 0;
    while (i < TIMES &&
           median(&its[i], COUNTED) <= GAIN * median(&ruled[i], COUNTED))
        i += COUNTED;
    return i == TIMES;
}

void contest_decide(struct contest *c, const double *slowest)
{
    double best = median(slowest, TIMES);
    for (unsigned i = 1; i < c->count; i++) {
        const double *its = &slowest[i * TIMES];
        if (!is_faster(its, slowest) || median(its, TIMES) >= best)
            continue;
        best = median(its, TIMES);
        c->winner = c->contenders[i];
    }
    c->over = true;
}

void contest_abandon(struct contest *c)
{
    c->winner = NULL;
    c->over = true;
}

bool contest_is_open(const struct contest *c, const dcoll_shape_t *shape,
                     const dcoll_args_t *args)
{
    return !c->over && (!c->count || counts(c, shape, args));
}
