/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reductions over tasks. Each thread of the team has a copy of the variables,
 * which the tasks that it runs use. The compiler sets copies up and adds them
 * up; the runtime has their memory, and finds the copy of a task's thread.
 *
 * What the compiler says of the variables is an array on the stack of the
 * thread; a task group has the one that holds for its tasks.
 */
#ifndef OMP_RUNTIME_TASKS_REDUCTION_H
#define OMP_RUNTIME_TASKS_REDUCTION_H

#include <stdint.h>

struct task_group;
struct thread;

/* The thread's task group has reductions. The compiler calls it, too. */
void GOMP_taskgroup_reduction_register(uintptr_t *reductions);
/* A worksharing construct begins that has such reductions, or none: NULL. All
 * threads of the team share the copies. A task group begins, too. */
void reduction_begin_shared(struct thread *t, uintptr_t *reductions);
/* A region with such reductions: its copies are there before it begins. */
void reduction_begin_region(uintptr_t *reductions, unsigned threads);

#endif
