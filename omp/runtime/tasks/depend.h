/* SPDX-License-Identifier: BSD-3-Clause */
/* Dependences between the children of a task. The caller holds the lock of
 * pool.c. */
#ifndef OMP_RUNTIME_TASKS_DEPEND_H
#define OMP_RUNTIME_TASKS_DEPEND_H

#include "omp/runtime/tasks/pool.h"

/* Reads the compiler's list. Called before the task is entered. */
void depend_read(struct task *task, void **depend);
void depend_free(struct task *task);

/* Finds the unfinished siblings that come before the task; task.awaited is
 * their number. */
void depend_await(struct task *task);
/* Siblings that begin later may wait for this task. */
void depend_enter(struct task *task);
/* The task has ended. @ready gets each task for which it was the last one. */
void depend_end(struct task *task, void (*ready)(struct task *task));

#endif
