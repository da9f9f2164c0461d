/* SPDX-License-Identifier: BSD-3-Clause */
/* GOMP_barrier, GOMP_loop_…, GOMP_sections_…, GOMP_ordered_…, GOMP_single_… */
#include "omp/runtime/doacross.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/output.h"
#include "omp/runtime/tasks/reduction.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

void GOMP_barrier(void)
{
    team_barrier(SITE);
}

static bool next_long(long *start, long *end)
{
    uint64_t first, last;
    if (!loop_next(self(), &first, &last))
        return false;
    *start = (long)(first - LOOP_BIAS);
    *end = (long)(last - LOOP_BIAS);
    return true;
}

static bool start_long(struct loop_bounds bounds, unsigned schedule,
                       bool is_ordered, long *first, long *last)
{
    loop_begin(self(), bounds, schedule, is_ordered);
    return next_long(first, last);
}

static bool next_ull(unsigned long long *start, unsigned long long *end)
{
    uint64_t first, last;
    if (!loop_next(self(), &first, &last))
        return false;
    *start = first;
    *end = last;
    return true;
}

static bool start_ull(struct loop_bounds bounds, unsigned schedule,
                      bool is_ordered, unsigned long long *first,
                      unsigned long long *last)
{
    loop_begin(self(), bounds, schedule, is_ordered);
    return next_ull(first, last);
}

/* @name: that of the schedule in the functions' names */
#define LOOP_NEXT(name)                                                        \
    bool GOMP_loop_##name##_next(long *first, long *last)                      \
    {                                                                          \
        return next_long(first, last);                                         \
    }                                                                          \
    bool GOMP_loop_ull_##name##_next(unsigned long long *first,                \
                                     unsigned long long *last)                 \
    {                                                                          \
        return next_ull(first, last);                                          \
    }

#define LOOP(name, schedule, is_ordered)                                       \
    bool GOMP_loop_##name##_start(long start, long end, long step, long chunk, \
                                  long *first, long *last)                     \
    {                                                                          \
        return start_long(loop_bounds(start, end, step, chunk), schedule,      \
                          is_ordered, first, last);                            \
    }                                                                          \
    bool GOMP_loop_ull_##name##_start(                                         \
        bool up, unsigned long long start, unsigned long long end,             \
        unsigned long long step, unsigned long long chunk,                     \
        unsigned long long *first, unsigned long long *last)                   \
    {                                                                          \
        return start_ull(loop_bounds_ull(up, start, end, step, chunk),         \
                         schedule, is_ordered, first, last);                   \
    }                                                                          \
    LOOP_NEXT(name)
LOOP(static, SCHEDULE_STATIC, false)
LOOP(dynamic, SCHEDULE_DYNAMIC, false)
LOOP(guided, SCHEDULE_GUIDED, false)
LOOP(nonmonotonic_dynamic, SCHEDULE_DYNAMIC, false)
LOOP(nonmonotonic_guided, SCHEDULE_GUIDED, false)
LOOP(ordered_static, SCHEDULE_STATIC, true)
LOOP(ordered_dynamic, SCHEDULE_DYNAMIC, true)
LOOP(ordered_guided, SCHEDULE_GUIDED, true)

#define LOOP_RUNTIME(name, is_ordered)                                         \
    bool GOMP_loop_##name##_start(long start, long end, long step,             \
                                  long *first, long *last)                     \
    {                                                                          \
        const struct icv *icv = &self()->icv;                                  \
        return start_long(loop_bounds(start, end, step, icv->chunk),           \
                          icv->schedule, is_ordered, first, last);             \
    }                                                                          \
    bool GOMP_loop_ull_##name##_start(                                         \
        bool up, unsigned long long start, unsigned long long end,             \
        unsigned long long step, unsigned long long *first,                    \
        unsigned long long *last)                                              \
    {                                                                          \
        const struct icv *icv = &self()->icv;                                  \
        return start_ull(                                                      \
            loop_bounds_ull(up, start, end, step, (uint64_t)icv->chunk),       \
            icv->schedule, is_ordered, first, last);                           \
    }                                                                          \
    LOOP_NEXT(name)
LOOP_RUNTIME(runtime, false)
LOOP_RUNTIME(nonmonotonic_runtime, false)
LOOP_RUNTIME(maybe_nonmonotonic_runtime, false)
LOOP_RUNTIME(ordered_runtime, true)

/* ------------------------------------- loops whose threads share memory --- */

/* @reductions: over tasks; NULL: none. *@mem: how many bytes, then where, for a
 * scan or lastprivate(conditional:); NULL: none. */
static void share(uintptr_t *reductions, void **mem)
{
    struct thread *t = self();
    reduction_begin_shared(t, reductions);
    if (mem)
        *mem = loop_share(t, (uintptr_t)*mem);
}

/* Without @first, the compiler divides the loop itself. */
static bool start_shared(struct loop_bounds bounds, unsigned schedule,
                         bool is_ordered, long *first, long *last,
                         uintptr_t *reductions, void **mem)
{
    share(reductions, mem);
    return !first || start_long(bounds, schedule, is_ordered, first, last);
}

static bool start_ull_shared(struct loop_bounds bounds, unsigned schedule,
                             bool is_ordered, unsigned long long *first,
                             unsigned long long *last, uintptr_t *reductions,
                             void **mem)
{
    share(reductions, mem);
    return !first || start_ull(bounds, schedule, is_ordered, first, last);
}

/* 0 stands for schedule(runtime); with the modifier nonmonotonic it is AUTO. */
static unsigned chosen(long schedule, uint64_t *chunk)
{
    const struct icv *icv = &self()->icv;
    const unsigned asked = (unsigned)schedule & ~SCHEDULE_MONOTONIC;
    if (asked && asked != SCHEDULE_AUTO)
        return asked;
    *chunk = (uint64_t)icv->chunk;
    return icv->schedule;
}

#define LOOP_SHARED(name, is_ordered)                                          \
    bool GOMP_loop_##name(long start, long end, long step, long schedule,      \
                          long chunk, long *first, long *last,                 \
                          uintptr_t *reductions, void **mem)                   \
    {                                                                          \
        uint64_t own = (uint64_t)chunk;                                        \
        const unsigned kind = chosen(schedule, &own);                          \
        return start_shared(loop_bounds(start, end, step, (long)own), kind,    \
                            is_ordered, first, last, reductions, mem);         \
    }                                                                          \
    bool GOMP_loop_ull_##name(                                                 \
        bool up, unsigned long long start, unsigned long long end,             \
        unsigned long long step, long schedule, unsigned long long chunk,      \
        unsigned long long *first, unsigned long long *last,                   \
        uintptr_t *reductions, void **mem)                                     \
    {                                                                          \
        uint64_t own = chunk;                                                  \
        const unsigned kind = chosen(schedule, &own);                          \
        return start_ull_shared(loop_bounds_ull(up, start, end, step, own),    \
                                kind, is_ordered, first, last, reductions,     \
                                mem);                                          \
    }
LOOP_SHARED(start, false)
LOOP_SHARED(ordered_start, true)

/* `ordered` with `depend`. @counts: the iterations of each loop; @bias:
 * LOOP_BIAS if the compiler goes on with GOMP_loop_…_next, 0 with
 * GOMP_loop_ull_…_next. */
static bool start_doacross(uint64_t bias, unsigned dimensions,
                           const uint64_t *counts, long schedule,
                           uint64_t chunk, uint64_t *first, uint64_t *last,
                           uintptr_t *reductions, void **mem)
{
    struct thread *t = self();
    const unsigned kind = chosen(schedule, &chunk);
    reduction_begin_shared(t, reductions);
    doacross_begin(t, bias, dimensions, counts, kind, chunk, mem);
    if (!loop_next(t, first, last))
        return false;
    *first -= bias;
    *last -= bias;
    return true;
}

/* @type: of counts and bounds; @ull: of names */
#define DOACROSS(ull, type, bias)                                              \
    bool GOMP_loop##ull##_doacross_start(                                      \
        unsigned dimensions, type *counts, long schedule, type chunk,          \
        type *first, type *last, uintptr_t *reductions, void **mem)            \
    {                                                                          \
        return start_doacross(bias, dimensions, (uint64_t *)counts, schedule,  \
                              (uint64_t)chunk, (uint64_t *)first,              \
                              (uint64_t *)last, reductions, mem);              \
    }                                                                          \
    bool GOMP_loop##ull##_doacross_runtime_start(                              \
        unsigned dimensions, type *counts, type *first, type *last)            \
    {                                                                          \
        return GOMP_loop##ull##_doacross_start(dimensions, counts, 0, 0,       \
                                               first, last, NULL, NULL);       \
    }                                                                          \
    DOACROSS_OF(ull, type, static, SCHEDULE_STATIC)                            \
    DOACROSS_OF(ull, type, dynamic, SCHEDULE_DYNAMIC)                          \
    DOACROSS_OF(ull, type, guided, SCHEDULE_GUIDED)
#define DOACROSS_OF(ull, type, name, schedule)                                 \
    bool GOMP_loop##ull##_doacross_##name##_start(unsigned dimensions,         \
                                                  type *counts, type chunk,    \
                                                  type *first, type *last)     \
    {                                                                          \
        return GOMP_loop##ull##_doacross_start(                                \
            dimensions, counts, schedule, chunk, first, last, NULL, NULL);     \
    }
DOACROSS(, long, LOOP_BIAS)
DOACROSS(_ull, unsigned long long, 0)

void GOMP_loop_end(void)
{
    team_barrier(SITE);
}

void GOMP_loop_end_nowait(void)
{
}

void GOMP_ordered_start(void)
{
    loop_await_turn(self());
}

/* the turn passes when the thread asks for its next chunk */
void GOMP_ordered_end(void)
{
    output_flush();
}

/* --------------------------------------------------------------- sections */

/* 0: none is left */
unsigned GOMP_sections_next(void)
{
    long first, last;
    return next_long(&first, &last) ? (unsigned)first : 0;
}

unsigned GOMP_sections_start(unsigned count)
{
    loop_begin(self(), loop_bounds(1, (long)count + 1, 1, 1), SCHEDULE_SECTIONS,
               false);
    return GOMP_sections_next();
}

unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **mem)
{
    share(reductions, mem);
    return GOMP_sections_start(count);
}

void GOMP_sections_end(void)
{
    team_barrier(SITE);
}

void GOMP_sections_end_nowait(void)
{
}

/* ----------------------------------------------------------------- single */

/* All threads meet the same `single` constructs in the same order. The first
 * one to count a construct runs it. */
bool GOMP_single_start(void)
{
    struct thread *t = self();
    if (t->team->threads == 1)
        return true;
    const uint64_t number = t->singles++;
    return memory_atomic(DDSM_COMPARE_SWAP, &shared_words->singles,
                         sizeof number, number + 1, number) == number;
}

/* NULL: this thread runs it. Else where the one that did has its variables. */
void *GOMP_single_copy_start(void)
{
    if (GOMP_single_start())
        return NULL;
    team_barrier(SITE);
    return self()->team->copyprivate;
}

/* It has run it. The compiler has a barrier after the copies. */
void GOMP_single_copy_end(void *variables)
{
    struct team *team = self()->team;
    team->copyprivate = team->given = variables;
    team_barrier(SITE);
}
