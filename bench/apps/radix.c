/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RADIX on many ranks. Each pass has one all-gather, of the ranks' counts: a
 * digit of 10 bits makes that 4 KB, as seed 000, 7.4.1, has it. Between two
 * ranks: the keys that change their place, in one message.
 */
#include <stdlib.h>
#include <string.h>

#include "bench/clock.h"
#include "digits.h"
#include "radix.h"

typedef struct problem {
    size_t n;
    unsigned bits, digit;
    uint32_t *start, *solution;
} problem_t;

typedef struct part {
    const problem_t *problem;
    unsigned rank, ranks;
    slice_t slice; /* of all keys: those here */
    uint32_t *keys, *ordered, *came;
    uint32_t *counts, *next, *places;
    bool misled; /* a message had another length than the counts said */
} part_t;

/* Operations, counted in digits.c: of a key that is counted, ordered and put
 * into its place, and of a rank's count of a value, which is added up and
 * looked at twice. */
#define KEY_OPERATIONS   14
#define COUNT_OPERATIONS 12

/* -------------------------------------------------------- begin and end --- */

static void end(void *arg)
{
    part_t *p = arg;
    if (!p)
        return;
    free(p->keys);
    free(p->ordered);
    free(p->came);
    free(p->counts);
    free(p->next);
    free(p->places);
    free(p);
}

static void *begin(const void *problem, unsigned rank, unsigned ranks)
{
    const problem_t *all = problem;
    slice_t slice = digits_slice(all->n, rank, ranks);
    size_t bytes = (slice.size + 1) * sizeof(uint32_t);
    size_t row = sizeof(uint32_t) << all->digit;
    part_t *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (part_t){.problem = all,
                  .rank = rank,
                  .ranks = ranks,
                  .slice = slice,
                  .keys = malloc(bytes),
                  .ordered = malloc(bytes),
                  .came = malloc(bytes),
                  .counts = malloc(row),
                  .next = malloc(row),
                  .places = malloc(row * (ranks + 1))};
    if (!p->keys || !p->ordered || !p->came || !p->counts || !p->next ||
        !p->places) {
        end(p);
        return NULL;
    }
    memcpy(p->keys, all->start + slice.first, slice.size * sizeof *p->keys);
    return p;
}

/* ---------------------------------------------------------------- passes ---
 */

static int exchange(part_t *p, app_comm_t *comm, unsigned bits)
{
    int rc = 0;
    for (unsigned round = 0; !rc && round < p->ranks; round++) {
        unsigned to = app_partner(comm, round);
        slice_t theirs = digits_slice(p->problem->n, to, p->ranks);
        slice_t part = digits_part(p->places, p->rank, bits, theirs);
        slice_t due = digits_part(p->places, to, bits, p->slice);
        size_t bytes;
        rc = app_exchange(comm, to, p->ordered + part.first,
                          part.size * sizeof *p->keys, p->came,
                          p->slice.size * sizeof *p->keys, &bytes);
        if (!rc && bytes == due.size * sizeof *p->keys)
            digits_put(p->places, to, bits, p->slice, p->came, p->keys);
        else
            p->misled = true;
    }
    return rc;
}

static int pass(part_t *p, app_comm_t *comm, digit_t digit)
{
    const void *all;
    size_t values = (size_t)1 << digit.bits;
    digits_count(p->keys, p->slice.size, digit, p->counts);
    digits_order(p->keys, p->slice.size, digit, p->counts, p->next, p->ordered);
    app_compute(comm, KEY_OPERATIONS * (double)p->slice.size);
    int rc = app_allgather(comm, p->counts, values * sizeof *p->counts, &all);
    if (rc)
        return rc;
    digits_places(all, p->ranks, digit.bits, p->places);
    app_compute(comm, COUNT_OPERATIONS * (double)p->ranks * (double)values);
    return exchange(p, comm, digit.bits);
}

/* The last digit may have fewer bits. */
static digit_t digit_at(const problem_t *all, unsigned shift)
{
    unsigned left = all->bits - shift;
    return (digit_t){shift, left < all->digit ? left : all->digit};
}

static int run(void *arg, app_comm_t *comm)
{
    part_t *p = arg;
    int rc = 0;
    for (unsigned s = 0; !rc && s < p->problem->bits; s += p->problem->digit)
        rc = pass(p, comm, digit_at(p->problem, s));
    return rc;
}

/* ---------------------------------------------------------------- checks ---
 */

static void check(const void *arg, app_check_t *c)
{
    const part_t *p = arg;
    const uint32_t *solution = p->problem->solution + p->slice.first;
    *c = (app_check_t){.count = p->slice.size, .wrong = p->misled};
    for (size_t i = 0; i < p->slice.size; i++) {
        c->sum += p->keys[i];
        c->wrong += p->keys[i] != solution[i];
    }
}

static void total(const void *problem, app_check_t *c)
{
    const problem_t *all = problem;
    *c = (app_check_t){.count = all->n};
    for (size_t i = 0; i < all->n; i++)
        c->sum += all->start[i];
}

/* --------------------------------------------------------------- problem ---
 */

static void discard(void *problem)
{
    problem_t *p = problem;
    if (!p)
        return;
    free(p->start);
    free(p->solution);
    free(p);
}

/* What a single rank does, without places: its order is that of all. */
static int sort(problem_t *p, double *operations)
{
    size_t row = sizeof(uint32_t) << p->digit;
    uint32_t *counts = malloc(row), *next = malloc(row);
    uint32_t *other = malloc(p->n * sizeof *other);
    int rc = counts && next && other ? 0 : DRAIL_ENOMEM;
    *operations = 0;
    if (!rc)
        memcpy(p->solution, p->start, p->n * sizeof *other);
    for (unsigned s = 0; !rc && s < p->bits; s += p->digit) {
        digit_t digit = digit_at(p, s);
        uint32_t *from = p->solution;
        digits_count(from, p->n, digit, counts);
        digits_order(from, p->n, digit, counts, next, other);
        *operations += KEY_OPERATIONS * (double)p->n;
        p->solution = other;
        other = from;
    }
    free(counts);
    free(next);
    free(other);
    return rc;
}

static int solve(const options_t *opts, app_solved_t *solved)
{
    const struct apps_options *o = &opts->apps;
    uint64_t seed = o->draw;
    problem_t *p = solved->problem = calloc(1, sizeof *p);
    if (!p)
        return DRAIL_ENOMEM;
    *p = (problem_t){.n = o->keys,
                     .bits = (unsigned)o->bits,
                     .digit = (unsigned)o->digit,
                     .start = malloc(o->keys * sizeof *p->start),
                     .solution = malloc(o->keys * sizeof *p->solution)};
    if (!p->start || !p->solution)
        return DRAIL_ENOMEM;
    for (size_t i = 0; i < p->n; i++)
        p->start[i] = (uint32_t)(app_random(&seed) >> (64 - p->bits));
    uint64_t from = clock_ns();
    int rc = sort(p, &solved->operations);
    solved->ns = clock_ns() - from;
    return rc;
}

static unsigned blocks(const options_t *opts, uint64_t *sizes)
{
    sizes[0] = sizeof(uint32_t) << opts->apps.digit;
    return 1;
}

static void describe(const options_t *opts, char *text, size_t size)
{
    const struct apps_options *o = &opts->apps;
    snprintf(text, size, "%llu keys of %llu bits, digits of %llu bits",
             (unsigned long long)o->keys, (unsigned long long)o->bits,
             (unsigned long long)o->digit);
}

const app_t radix_app = {.blocks = blocks,
                         .solve = solve,
                         .discard = discard,
                         .begin = begin,
                         .run = run,
                         .check = check,
                         .total = total,
                         .end = end,
                         .describe = describe};
