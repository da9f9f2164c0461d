/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tasks. The threads of the rank that has met a task run it: in a barrier, or
 * while they wait for tasks. If the rank has one thread in the team, tasks run
 * at once, in the order of the program: so dependences hold.
 */
#ifndef OMP_RUNTIME_TASKS_POOL_H
#define OMP_RUNTIME_TASKS_POOL_H

#include <stdatomic.h>

#include "omp/runtime/icv.h"

struct thread;

struct task_group {
    struct task_group *outer;
    unsigned unfinished;   /* tasks that were made in it, and their children */
    uintptr_t *reductions; /* reduction.h; NULL: none */
    struct room *room;     /* what the threads' groups share; NULL: nothing */
};

/* A task, or a thread's part in its team (an implicit task). */
struct task {
    void (*function)(void *);
    void *variables; /* on the shared heap */
    struct icv icv;
    bool in_final;
    bool is_deferred;
    /* pool.c protects what follows */
    struct task *parent;
    struct task_group *group; /* the innermost one; NULL: none */
    struct task *next;        /* in the list of ready tasks */
    unsigned children;        /* unfinished ones */
    bool has_ended;

    /* dependences (depend.h) */
    unsigned dependences;
    struct dependence *dependence;
    unsigned awaited;          /* unfinished tasks that come before */
    struct successor *after;   /* tasks that wait for this one */
    struct task *with_depend;  /* unfinished children that have dependences */
    struct task *next_sibling; /* in that list */
};

/* What the compiler says of a task that a thread meets. */
struct task_request {
    void (*function)(void *);
    void *variables;
    void (*copy)(void *to, void *from); /* NULL: bytes are copied */
    size_t bytes, alignment;
    bool is_deferred, is_final;
    const long *bounds; /* of a taskloop's piece; NULL: it is none */
    void **depend;      /* the compiler's list; NULL: none */
};
/* The thread's tasks belong to another group, until its end; that waits for
 * them. */
void task_begin_group(struct thread *t);
void task_end_group(struct thread *t);
/* Runs it, now or later. */
void task_make(struct thread *t, const struct task_request *request);

/* The thread waits until the task's children have ended, and runs those that
 * are ready meanwhile. */
void task_await_children(struct thread *t);
/* ... or until no unfinished task comes before @depend. */
void task_await_depend(struct thread *t, void **depend);
/* Runs a child that is ready, if there is one. */
void task_yield(struct thread *t);

/* In barriers: runs tasks until *@count is no longer @seen, or until no task of
 * this rank is unfinished. */
void task_help(struct thread *t, const _Atomic uint32_t *count, uint32_t seen);
void task_finish_all(struct thread *t);

/* Changes when a task is ready or has ended. Who changes what threads in
 * task_help() wait for calls it. */
void task_wake(void);

#endif
