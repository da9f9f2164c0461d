/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `ordered` with `depend`. Iterations of the nest are numbered in the order of
 * the program. The outermost loop is cut into strips of as many iterations as a
 * chunk has; one thread runs a strip, in this order. A strip has a word in the
 * loop's room: the number of the last iteration that is done, and 1.
 */
#include "omp/runtime/doacross.h"

#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/room.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

struct doacross {
    uint64_t chunk;
    uint64_t *done; /* a word for each strip */
    unsigned dimensions;
    uint64_t counts[]; /* iterations of each loop of the nest */
};

static uint64_t chunk_of(const struct thread *t, unsigned schedule,
                         uint64_t chunk, uint64_t iterations)
{
    if (chunk)
        return chunk;
    const bool is_static = schedule != SCHEDULE_SECTIONS;
    const uint64_t each = divided_up(iterations, t->team->threads);
    return is_static && each ? each : 1;
}

static struct doacross *new_doacross(uint64_t chunk, unsigned dimensions,
                                     const uint64_t *counts)
{
    struct doacross *d = malloc(sizeof *d + dimensions * sizeof *counts);
    if (!d)
        fail(FAILED, "out of memory for an ordered loop");
    *d = (struct doacross){.chunk = chunk, .dimensions = dimensions};
    for (unsigned i = 0; i < dimensions; i++)
        d->counts[i] = counts[i];
    return d;
}

void doacross_begin(struct thread *t, uint64_t bias, unsigned dimensions,
                    const uint64_t *counts, unsigned schedule, uint64_t chunk,
                    void **mem)
{
    schedule &= ~SCHEDULE_MONOTONIC;
    /* one chunk at a time, all of one length: while a rank runs several in
     * turn, the others would wait for the last one */
    if (schedule == SCHEDULE_DYNAMIC || schedule == SCHEDULE_GUIDED)
        schedule = SCHEDULE_SECTIONS;
    chunk = chunk_of(t, schedule, chunk, *counts);
    loop_begin(t, loop_bounds_ull(true, bias, bias + *counts, 1, chunk),
               schedule, false);
    const uint64_t words = mem ? divided_up((uintptr_t)*mem, 8) : 0;
    char *memory =
        loop_share(t, (words + divided_up(*counts, chunk)) * sizeof(uint64_t));
    if (mem)
        *mem = memory;
    t->doacross = new_doacross(chunk, dimensions, counts);
    t->doacross->done = (uint64_t *)memory + words;
}

/* @first, and more if the nest has more loops: an iteration. Returns its
 * number, and 1; *@word is that of its strip. */
#define NUMBER(d, first, next)                                                 \
    uint64_t number = (first);                                                 \
    for (unsigned i = 1; i < (d)->dimensions; i++)                             \
        number = number * (d)->counts[i] + (next);                             \
    number++

static uint64_t *word_of(const struct doacross *d, uint64_t first)
{
    return d->done + first / d->chunk;
}

static void post(const uint64_t *iteration)
{
    const struct thread *t = self();
    const struct doacross *d = t->doacross;
    if (t->team->threads == 1)
        return;
    NUMBER(d, *iteration, iteration[i]);
    memory_release();
    memory_atomic(DDSM_STORE, word_of(d, *iteration), sizeof number, number, 0);
}

static void await(uint64_t *word, uint64_t number)
{
    while (memory_load(word) < number)
        sched_yield();
    memory_acquire();
}

/* --------------------------------------------------- what the compiler calls
 */

void GOMP_doacross_post(long *iteration)
{
    post((const uint64_t *)iteration);
}

void GOMP_doacross_ull_post(unsigned long long *iteration)
{
    post((const uint64_t *)iteration);
}

#define WAIT(name, type)                                                       \
    void GOMP_doacross_##name(type first, ...)                                 \
    {                                                                          \
        const struct thread *t = self();                                       \
        const struct doacross *d = t->doacross;                                \
        va_list rest;                                                          \
        if (t->team->threads == 1)                                             \
            return;                                                            \
        va_start(rest, first);                                                 \
        NUMBER(d, (uint64_t)first, (uint64_t)va_arg(rest, type));              \
        va_end(rest);                                                          \
        await(word_of(d, (uint64_t)first), number);                            \
    }
WAIT(wait, long)
WAIT(ull_wait, unsigned long long)
