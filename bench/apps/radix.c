/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * RADIX on many ranks. Each pass has one all-gather, of the ranks' counts: 4 KB
 * with digits of 10 bits (Qian and Afsahi 2008, 7.4.1). Between two ranks goes
 * one message: the keys that change their place.
 */
#include <stdlib.h>
#include <string.h>

#include "digits.h"
#include "radix.h"

typedef struct problem {
    size_t n;
    unsigned bits, digit;
    uint32_t *start, *solution;
    uint32_t *other;         /* room for a pass of the sequential run, ... */
    uint32_t *counts, *next; /* ... and for its counts */
} problem_t;

typedef struct part {
    const problem_t *problem;
    unsigned rank, ranks;
    slice_t slice; /* of all keys: those here */
    uint32_t *keys, *ordered, *came;
    uint32_t *counts, *next, *places;
    bool misled; /* a message had another length than the counts said */
} part_t;

/* Operations, counted in digits.c: of a key that is counted and ordered, and of
 * a value that is counted from 0 and added up; then, of many ranks only, of a
 * rank's count of a value, which is added up and looked at twice, and of a key
 * that is put into its place. */
#define KEY_OPERATIONS   12
#define VALUE_OPERATIONS 4
#define COUNT_OPERATIONS 12
#define PUT_OPERATIONS   2

static double order_operations(size_t keys, unsigned bits)
{
    return KEY_OPERATIONS * (double)keys +
           VALUE_OPERATIONS * (double)(1u << bits);
}

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

/* -------------------------------------------------------------- passes --- */

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
        if (rc || bytes != due.size * sizeof *p->keys) {
            p->misled = true;
            continue;
        }
        digits_put(p->places, to, bits, p->slice, p->came, p->keys);
        app_compute(comm, PUT_OPERATIONS * (double)due.size);
    }
    return rc;
}

static int pass(part_t *p, app_comm_t *comm, digit_t digit)
{
    const void *all;
    size_t values = (size_t)1 << digit.bits;
    digits_count(p->keys, p->slice.size, digit, p->counts);
    digits_order(p->keys, p->slice.size, digit, p->counts, p->next, p->ordered);
    app_compute(comm, order_operations(p->slice.size, digit.bits));
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

/* -------------------------------------------------------------- checks --- */

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

/* ------------------------------------------------------------- problem --- */

static void discard(void *problem)
{
    problem_t *p = problem;
    if (!p)
        return;
    free(p->start);
    free(p->solution);
    free(p->other);
    free(p->counts);
    free(p->next);
    free(p);
}

static void *draw(const options_t *opts)
{
    const struct apps_options *o = &opts->apps;
    size_t bytes = o->keys * sizeof(uint32_t);
    size_t row = sizeof(uint32_t) << o->digit;
    uint64_t seed = o->draw;
    problem_t *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (problem_t){.n = o->keys,
                     .bits = (unsigned)o->bits,
                     .digit = (unsigned)o->digit,
                     .start = malloc(bytes),
                     .solution = malloc(bytes),
                     .other = malloc(bytes),
                     .counts = malloc(row),
                     .next = malloc(row)};
    if (!p->start || !p->solution || !p->other || !p->counts || !p->next) {
        discard(p);
        return NULL;
    }
    for (size_t i = 0; i < p->n; i++)
        p->start[i] = (uint32_t)(app_random(&seed) >> (64 - p->bits));
    return p;
}

static void reset(void *problem)
{
    problem_t *p = problem;
    memcpy(p->solution, p->start, p->n * sizeof *p->start);
}

/* A single rank needs no places: its order is the order of all. */
static double solve(void *problem)
{
    problem_t *p = problem;
    double operations = 0;
    for (unsigned s = 0; s < p->bits; s += p->digit) {
        digit_t digit = digit_at(p, s);
        uint32_t *from = p->solution;
        digits_count(from, p->n, digit, p->counts);
        digits_order(from, p->n, digit, p->counts, p->next, p->other);
        operations += order_operations(p->n, digit.bits);
        p->solution = p->other;
        p->other = from;
    }
    return operations;
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
                         .draw = draw,
                         .reset = reset,
                         .solve = solve,
                         .discard = discard,
                         .begin = begin,
                         .run = run,
                         .check = check,
                         .total = total,
                         .end = end,
                         .describe = describe};
