/* SPDX-License-Identifier: BSD-3-Clause */
/* GOMP_task, GOMP_taskloop, GOMP_taskwait, GOMP_taskgroup_… */
#include "omp/runtime/tasks/pool.h"

#include "omp/runtime/fail.h"
#include "omp/runtime/tasks/reduction.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

/* gomp-constants.h */
enum {
    TASK_FINAL = 1 << 1,
    TASK_DEPEND = 1 << 3,
    TASKLOOP_UP = 1 << 8,
    TASKLOOP_GRAINSIZE = 1 << 9,
    TASKLOOP_IF = 1 << 10,
    TASKLOOP_NOGROUP = 1 << 11,
    TASK_REDUCTION = 1 << 12,
    TASK_DETACH = 1 << 13,
    TASKLOOP_STRICT = 1 << 14,
};

typedef void (*task_t)(void *);
typedef void (*copy_t)(void *to, void *from);

static void check_flags(unsigned flags)
{
    if (flags & TASK_DETACH)
        fail(NOT_SERVED, "a detached task is not served");
}

/* What the compiler says of all tasks. */
static struct task_request request_of(task_t task, void *variables, copy_t copy,
                                      long bytes, long alignment)
{
    return (struct task_request){.function = task,
                                 .variables = variables,
                                 .copy = copy,
                                 .bytes = (size_t)bytes,
                                 .alignment = (size_t)alignment};
}

void GOMP_task(task_t task, void *variables, copy_t copy, long bytes,
               long alignment, bool deferred, unsigned flags, void **depend,
               int priority, void *detach)
{
    struct task_request request =
        request_of(task, variables, copy, bytes, alignment);
    request.is_deferred = deferred;
    request.is_final = flags & TASK_FINAL;
    request.depend = flags & TASK_DEPEND ? depend : NULL;
    (void)priority, (void)detach;
    check_flags(flags);
    task_make(self(), &request);
}

void GOMP_taskgroup_start(void)
{
    task_begin_group(self());
}

void GOMP_taskgroup_end(void)
{
    task_end_group(self());
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
static void make_tasks(struct task_request *request, unsigned flags,
                       unsigned long asked, const struct loop_bounds *b,
                       uint64_t bias)
{
    const uint64_t count =
        pieces(b->iterations, flags, asked, self()->team->threads);
    for (uint64_t i = 0, first = 0, last; i < count; i++, first = last) {
        last = first + b->iterations / count + (i < b->iterations % count);
        if (is_strict(flags, asked))
            last = i + 1 < count ? first + asked : b->iterations;
        uint64_t start, end;
        loop_range(b, first, last, &start, &end);
        const long bounds[] = {(long)(start - bias), (long)(end - bias)};
        request->bounds = bounds;
        task_make(self(), request);
    }
}

/* The third member of the variables is what the loop reduces. */
static void begin_group(const struct task_request *request, unsigned flags)
{
    GOMP_taskgroup_start();
    if (flags & TASK_REDUCTION)
        GOMP_taskgroup_reduction_register(
            ((uintptr_t **)request->variables)[2]);
}

static void run_taskloop(struct task_request request, unsigned flags,
                         unsigned long asked, const struct loop_bounds *b,
                         uint64_t bias)
{
    check_flags(flags);
    request.is_deferred = flags & TASKLOOP_IF;
    request.is_final = flags & TASK_FINAL;
    if (!(flags & TASKLOOP_NOGROUP))
        begin_group(&request, flags);
    make_tasks(&request, flags, asked, b, bias);
    if (!(flags & TASKLOOP_NOGROUP))
        GOMP_taskgroup_end();
}

void GOMP_taskloop(task_t task, void *variables, copy_t copy, long bytes,
                   long alignment, unsigned flags, unsigned long asked,
                   int priority, long start, long end, long step)
{
    const struct loop_bounds b = loop_bounds(start, end, step, 0);
    (void)priority;
    run_taskloop(request_of(task, variables, copy, bytes, alignment), flags,
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
    run_taskloop(request_of(task, variables, copy, bytes, alignment), flags,
                 asked, &b, 0);
}

void GOMP_taskwait(void)
{
    task_await_children(self());
}

void GOMP_taskwait_depend(void **depend)
{
    task_await_depend(self(), depend);
}

void GOMP_taskyield(void)
{
    task_yield(self());
}
