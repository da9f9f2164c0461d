/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of tasks: dependences are touched only while its mutex is held. */
#include "unit.h"

#include <pthread.h>

#undef fail /* cmocka's */
#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/sleep.h"
#include "omp/runtime/tasks/depend.h"
#include "omp/runtime/team.h"
#include "tests/stand_in.h"

static bool is_held;
static unsigned awaited, entered, ended, ran;

STAND_IN int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    assert_false(is_held);
    is_held = true;
    return 0;
}

STAND_IN int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    assert_true(is_held);
    is_held = false;
    return 0;
}

void depend_read(struct task *task, void **depend)
{
}

void depend_free(struct task *task)
{
}

void depend_await(struct task *task)
{
    assert_true(is_held);
    awaited++;
}

void depend_enter(struct task *task)
{
    assert_true(is_held);
    entered++;
}

void depend_end(struct task *task, void (*ready)(struct task *task))
{
    assert_true(is_held);
    ended++;
}

void *memory_aligned_alloc(size_t alignment, size_t bytes)
{
    return aligned_alloc(alignment, bytes);
}

void memory_free(void *p)
{
    free(p);
}

void event_wait(struct event *event, uint32_t seen)
{
    abort(); /* there is nothing to wait for */
}

void event_signal(struct event *event)
{
}

void fail(int status, const char *format, ...)
{
    abort();
}

static void run(void *argument)
{
    assert_false(is_held);
    ran++;
}

/* Of a rank with two threads. */
static void lists_are_protected(void **state)
{
    struct team team = {.threads = 2, .here = 2};
    struct thread thread = {.team = &team};
    char variables[16] = {0};
    void *depend[] = {variables};
    const struct task_request request = {.function = run,
                                         .variables = variables,
                                         .bytes = sizeof variables,
                                         .alignment = 16,
                                         .is_deferred = true,
                                         .depend = depend};
    thread.task = &thread.implicit;
    task_make(&thread, &request);
    assert_true(awaited == 1 && entered == 1 && ended == 0 && ran == 0);
    task_await_depend(&thread, depend);
    assert_int_equal(awaited, 2);
    task_await_children(&thread);
    assert_true(ended == 1 && ran == 1 && !thread.implicit.children);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lists_are_protected)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
