/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tasks of this rank. A thread that waits runs only tasks that it waits
 * for, so what it has suspended never waits for something else. In a barrier it
 * runs any.
 *
 * A task's structure lives until the task and its children have ended.
 */
#include "omp/runtime/tasks/pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/sleep.h"
#include "omp/runtime/tasks/depend.h"
#include "omp/runtime/team.h"

/* A thread that has so many tasks ready runs the next one at once. */
enum { READY_MOST = 64 };

static struct pool {
    pthread_mutex_t mutex;       /* of all members, and of all tasks' */
    struct task *first, *last;   /* ready tasks */
    _Atomic unsigned ready;      /* their number */
    _Atomic unsigned unfinished; /* all tasks */
    struct event changed;
} pool = {.mutex = PTHREAD_MUTEX_INITIALIZER};

/* Which tasks a thread may run: a task's children, those of a group, or any; in
 * a barrier, while @passed is @seen, so none of what comes after it. */
struct scope {
    const struct task *parent;
    const struct task_group *group;
    const _Atomic uint32_t *passed; /* NULL: it is in no barrier */
    uint32_t seen;
};

void task_wake(void)
{
    event_signal(&pool.changed);
}

/* ------------------------------------------------------------ ready tasks */

static void push(struct task *task)
{
    if (!task->is_deferred) /* its thread waits for it */
        return;
    task->next = NULL;
    if (pool.last)
        pool.last->next = task;
    else
        pool.first = task;
    pool.last = task;
    pool.ready++;
}

static bool is_in(const struct task *task, const struct scope *scope)
{
    return (!scope->parent || task->parent == scope->parent) &&
           (!scope->group || task->group == scope->group);
}

static struct task *take(const struct scope *scope)
{
    struct task *before = NULL, *task = pool.first;
    /* the mutex that has shown a task of the next region shows this, too */
    if (scope->passed && atomic_load(scope->passed) != scope->seen)
        return NULL;
    while (task && !is_in(task, scope)) {
        before = task;
        task = task->next;
    }
    if (!task)
        return NULL;
    if (before)
        before->next = task->next;
    else
        pool.first = task->next;
    if (pool.last == task)
        pool.last = before;
    pool.ready--;
    return task;
}

/* -------------------------------------------------------------- one task */

static void discard(struct task *task)
{
    depend_free(task);
    memory_free(task->variables);
    free(task);
}

/* Also of an implicit task, which never ends. */
static void child_ends(struct task *parent)
{
    if (!--parent->children && parent->has_ended)
        discard(parent);
}

static void end(struct task *task)
{
    pthread_mutex_lock(&pool.mutex);
    depend_end(task, push);
    if (task->group)
        task->group->unfinished--;
    child_ends(task->parent);
    pool.unfinished--;
    task->has_ended = true;
    if (!task->children)
        discard(task);
    pthread_mutex_unlock(&pool.mutex);
    task_wake();
}

static void run(struct thread *t, struct task *task)
{
    struct task *outer = t->task;
    const struct icv icv = t->icv;
    const bool in_final = t->in_final;
    t->task = task;
    t->icv = task->icv;
    t->in_final = task->in_final;
    task->function(task->variables);
    t->task = outer;
    t->icv = icv;
    t->in_final = in_final;
    end(task);
}

/* ---------------------------------------------------------------- waiting */

/* Until *@count, which the pool's mutex protects, is 0. */
static void await(struct thread *t, struct scope scope, const unsigned *count)
{
    for (;;) {
        const uint32_t seen = atomic_load(&pool.changed.count);
        pthread_mutex_lock(&pool.mutex);
        const bool is_over = !*count;
        struct task *task = is_over ? NULL : take(&scope);
        pthread_mutex_unlock(&pool.mutex);
        if (is_over)
            return;
        if (task)
            run(t, task);
        else
            event_wait(&pool.changed, seen);
    }
}

static bool try_run(struct thread *t, struct scope scope)
{
    struct task *task;
    if (!pool.ready)
        return false;
    pthread_mutex_lock(&pool.mutex);
    task = take(&scope);
    pthread_mutex_unlock(&pool.mutex);
    if (task)
        run(t, task);
    return task;
}

void task_await_children(struct thread *t)
{
    if (t->team->here > 1)
        await(t, (struct scope){.parent = t->task}, &t->task->children);
}

void task_begin_group(struct thread *t)
{
    struct task_group *outer = t->task->group, *group = malloc(sizeof *group);
    if (!group)
        fail(FAILED, "out of memory for a group of tasks");
    *group = (struct task_group){
        .outer = outer, .reductions = outer ? outer->reductions : NULL};
    t->task->group = group;
}

void task_end_group(struct thread *t)
{
    struct task_group *group = t->task->group;
    await(t, (struct scope){.group = group}, &group->unfinished);
    t->task->group = group->outer;
    free(group);
}

void task_yield(struct thread *t)
{
    if (t->team->here > 1)
        try_run(t, (struct scope){.parent = t->task});
}

void task_help(struct thread *t, const _Atomic uint32_t *count, uint32_t seen)
{
    for (;;) {
        const uint32_t change = atomic_load(&pool.changed.count);
        if (atomic_load(count) != seen)
            return;
        if (!try_run(t, (struct scope){.passed = count, .seen = seen}))
            event_wait(&pool.changed, change);
    }
}

void task_finish_all(struct thread *t)
{
    for (;;) {
        const uint32_t change = atomic_load(&pool.changed.count);
        if (!pool.unfinished)
            return;
        if (!try_run(t, (struct scope){0}))
            event_wait(&pool.changed, change);
    }
}

/* ----------------------------------------------------------------- making */

static void copy_variables(const struct task_request *r, void *to)
{
    if (r->copy)
        r->copy(to, r->variables);
    else if (r->bytes)
        memcpy(to, r->variables, r->bytes);
    if (r->bounds)
        memcpy(to, r->bounds, 2 * sizeof *r->bounds);
}

/* The task's variables are on the stack of the thread: in shared memory. */
static void run_at_once(struct thread *t, const struct task_request *r)
{
    const bool outer = t->in_final;
    char room[r->bytes + r->alignment];
    void *mine = (void *)(((uintptr_t)room + r->alignment - 1) &
                          -(uintptr_t)r->alignment);
    t->in_final = outer || r->is_final;
    copy_variables(r, mine);
    r->function(mine);
    t->in_final = outer;
}

static struct task *new_task(struct thread *t, const struct task_request *r)
{
    struct task *task = malloc(sizeof *task);
    void *variables =
        memory_aligned_alloc(r->alignment, r->bytes ? r->bytes : 1);
    if (!task || !variables)
        fail(FAILED, "out of memory for a task");
    *task =
        (struct task){.function = r->function,
                      .variables = variables,
                      .icv = t->icv,
                      .in_final = r->is_final,
                      .is_deferred = r->is_deferred &&
                                     pool.ready < READY_MOST * t->team->here,
                      .parent = t->task,
                      .group = t->task->group};
    copy_variables(r, variables);
    if (r->depend)
        depend_read(task, r->depend);
    return task;
}

static void enter(struct task *task)
{
    pthread_mutex_lock(&pool.mutex);
    task->parent->children++;
    if (task->group)
        task->group->unfinished++;
    pool.unfinished++;
    depend_await(task);
    depend_enter(task);
    if (!task->awaited)
        push(task);
    pthread_mutex_unlock(&pool.mutex);
}

void task_make(struct thread *t, const struct task_request *r)
{
    if (t->team->here == 1 || t->in_final) {
        run_at_once(t, r);
        return;
    }
    struct task *task = new_task(t, r);
    const bool is_deferred = task->is_deferred;
    enter(task);
    if (is_deferred) {
        task_wake();
        return;
    }
    await(t, (struct scope){.parent = t->task}, &task->awaited);
    run(t, task);
}

/* A task without a function stands for the thread. */
void task_await_depend(struct thread *t, void **depend)
{
    struct task waiting = {.parent = t->task};
    if (t->team->here == 1)
        return;
    depend_read(&waiting, depend);
    pthread_mutex_lock(&pool.mutex);
    depend_await(&waiting);
    pthread_mutex_unlock(&pool.mutex);
    await(t, (struct scope){.parent = t->task}, &waiting.awaited);
    depend_free(&waiting);
}
