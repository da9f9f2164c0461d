/* SPDX-License-Identifier: BSD-3-Clause */
/* GOMP_barrier, GOMP_loop_…, GOMP_sections_…, GOMP_ordered_…, GOMP_single_… */
#include "omp/runtime/memory.h"
#include "omp/runtime/output.h"
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
