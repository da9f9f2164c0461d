/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/tasks/depend.h"

#include <stdlib.h>

#include "omp/runtime/fail.h"

struct dependence {
    const void *address;
    bool writes; /* all kinds but `in` */
};

struct successor {
    struct task *task;
    struct successor *next;
};

static void *allocated(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p)
        fail(FAILED, "out of memory for the dependences of a task");
    return p;
}

static void add(struct task *task, const void *address, bool writes)
{
    task->dependence[task->dependences++] =
        (struct dependence){address, writes};
}

/* An omp_depend_t: an address, and its kind. */
static void add_object(struct task *task, void **object)
{
    enum { KIND_IN = 1 };
    add(task, object[0], (uintptr_t)object[1] != KIND_IN);
}

/* GCC's list: the number of all and of those that write; or 0 and the numbers
 * of all, `out`, `mutexinoutset` and `in`. Then addresses in this order, and
 * those of objects. */
void depend_read(struct task *task, void **depend)
{
    const bool is_short = depend[0] != NULL;
    const uintptr_t all = (uintptr_t)depend[is_short ? 0 : 1];
    uintptr_t writes = (uintptr_t)depend[is_short ? 1 : 2], plain = all;
    void **address = depend + (is_short ? 2 : 5);
    if (!is_short) {
        writes += (uintptr_t)depend[3];
        plain = writes + (uintptr_t)depend[4];
    }
    task->dependence = allocated((all + 1) * sizeof *task->dependence);
    for (uintptr_t i = 0; i < all; i++)
        if (i < plain)
            add(task, address[i], i < writes);
        else
            add_object(task, address[i]);
}

void depend_free(struct task *task)
{
    free(task->dependence);
}

static bool conflict(const struct task *a, const struct task *b)
{
    for (unsigned i = 0; i < a->dependences; i++)
        for (unsigned j = 0; j < b->dependences; j++)
            if (a->dependence[i].address == b->dependence[j].address &&
                (a->dependence[i].writes || b->dependence[j].writes))
                return true;
    return false;
}

void depend_await(struct task *task)
{
    for (struct task *other = task->parent->with_depend; other;
         other = other->next_sibling) {
        if (!conflict(task, other))
            continue;
        struct successor *s = allocated(sizeof *s);
        *s = (struct successor){task, other->after};
        other->after = s;
        task->awaited++;
    }
}

void depend_enter(struct task *task)
{
    if (!task->dependences)
        return;
    task->next_sibling = task->parent->with_depend;
    task->parent->with_depend = task;
}

static void leave(struct task *task)
{
    struct task **at = &task->parent->with_depend;
    while (*at && *at != task)
        at = &(*at)->next_sibling;
    if (*at)
        *at = task->next_sibling;
}

void depend_end(struct task *task, void (*ready)(struct task *task))
{
    if (task->dependences)
        leave(task);
    for (struct successor *s = task->after, *next; s; s = next) {
        next = s->next;
        if (!--s->task->awaited)
            ready(s->task);
        free(s);
    }
}
