/* SPDX-License-Identifier: BSD-3-Clause */
/* Tasks. Each runs at once, in the thread that meets it: so dependences hold,
 * and a task has ended when the next one begins. */
#include <stdlib.h>
#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

/* gomp-constants.h */
enum {
    TASK_UNTIED = 1 << 0,
    TASK_FINAL = 1 << 1,
    TASKLOOP_UP = 1 << 8,
    TASKLOOP_GRAINSIZE = 1 << 9,
    TASK_REDUCTION = 1 << 12,
    TASK_DETACH = 1 << 13,
    TASKLOOP_STRICT = 1 << 14,
};

typedef void (*task_t)(void *);
typedef void (*copy_t)(void *to, void *from);

static void check_flags(unsigned flags)
{
    if (flags & TASK_REDUCTION)
        fail(NOT_SERVED, "a reduction over tasks is not served");
    if (flags & TASK_DETACH)
        fail(NOT_SERVED, "a detached task is not served");
}

/* The task's copy of its variables, on the stack of its caller: in shared
 * memory, as all variables of threads. */
static void run_task(task_t task, void *variables, copy_t copy, size_t bytes,
                     size_t alignment, unsigned flags, const long *bounds)
{
    struct thread *t = self();
    const bool outer = t->in_final;
    char room[bytes + alignment];
    void *mine =
        (void *)(((uintptr_t)room + alignment - 1) & -(uintptr_t)alignment);
    t->in_final = outer || flags & TASK_FINAL;
    if (copy)
        copy(mine, variables);
    else
        memcpy(mine, variables, bytes);
    if (bounds)
        memcpy(mine, bounds, 2 * sizeof *bounds);
    task(mine);
    t->in_final = outer;
}

void GOMP_task(task_t task, void *variables, copy_t copy, long bytes,
               long alignment, bool deferred, unsigned flags, void **depend,
               int priority, void *detach)
{
    (void)deferred, (void)depend, (void)priority, (void)detach;
    check_flags(flags);
    run_task(task, variables, copy, (size_t)bytes, (size_t)alignment, flags,
             NULL);
}

/* All tasks have that many iterations, but for the last one. */
static bool is_strict(unsigned flags, unsigned long asked)
{
    return asked && flags & TASKLOOP_STRICT && flags & TASKLOOP_GRAINSIZE;
}

/* How many tasks a loop of so many iterations is cut into. */
static uint64_t pieces(uint64_t iterations, unsigned flags, unsigned long asked,
                       unsigned threads)
{
    uint64_t count = asked ? asked : threads;
    if (is_strict(flags, asked))
        return divided_up(iterations, asked);
    if (flags & TASKLOOP_GRAINSIZE && asked)
        count = iterations / asked ? iterations / asked : 1;
    return count < iterations ? count : iterations;
}

/* The first two members of the variables are the bounds of the piece. */
static void run_taskloop(task_t task, void *variables, copy_t copy,
                         size_t bytes, size_t alignment, unsigned flags,
                         unsigned long asked, const struct loop_bounds *b,
                         uint64_t bias)
{
    const uint64_t count =
        pieces(b->iterations, flags, asked, self()->team->threads);
    check_flags(flags);
    for (uint64_t i = 0, first = 0, last; i < count; i++, first = last) {
        last = first + b->iterations / count + (i < b->iterations % count);
        if (is_strict(flags, asked))
            last = i + 1 < count ? first + asked : b->iterations;
        uint64_t start, end;
        loop_range(b, first, last, &start, &end);
        const long bounds[] = {(long)(start - bias), (long)(end - bias)};
        run_task(task, variables, copy, bytes, alignment, flags, bounds);
    }
}

void GOMP_taskloop(task_t task, void *variables, copy_t copy, long bytes,
                   long alignment, unsigned flags, unsigned long asked,
                   int priority, long start, long end, long step)
{
    const struct loop_bounds b = loop_bounds(start, end, step, 0);
    (void)priority;
    run_taskloop(task, variables, copy, (size_t)bytes, (size_t)alignment, flags,
                 asked, &b, LOOP_BIAS);
}

void GOMP_taskloop_ull(task_t task, void *variables, copy_t copy, long bytes,
                       long alignment, unsigned flags, unsigned long asked,
                       int priority, unsigned long long start,
                       unsigned long long end, unsigned long long step)
{
    const struct loop_bounds b =
        loop_bounds_ull(flags & TASKLOOP_UP, start, end, step, 0);
    (void)priority;
    run_taskloop(task, variables, copy, (size_t)bytes, (size_t)alignment, flags,
                 asked, &b, 0);
}

void GOMP_taskwait(void)
{
}

void GOMP_taskwait_depend(void **depend)
{
    (void)depend;
}

void GOMP_taskyield(void)
{
}

void GOMP_taskgroup_start(void)
{
}

void GOMP_taskgroup_end(void)
{
}
