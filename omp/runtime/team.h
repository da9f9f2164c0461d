/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams. The threads of a parallel region are numbered rank by rank. Each rank
 * runs its own with a pool of threads; the ranks meet in memory_barrier().
 *
 * One team of several threads exists at a time. Other regions (nested ones,
 * those of threads that the program has made itself) have one thread.
 */
#ifndef OMP_RUNTIME_TEAM_H
#define OMP_RUNTIME_TEAM_H

#include "omp/runtime/icv.h"
#include "omp/runtime/loop.h"
#include "omp/runtime/tasks/pool.h"

/* What the argument of a region is. */
enum team_form {
    TEAM_PLAIN,
    TEAM_COMBINED, /* a struct combined, with the function's */
    TEAM_REDUCES,  /* its first word: the reductions over tasks */
};

struct team {
    unsigned threads;     /* of all ranks */
    unsigned first, here; /* this rank's: the number of the first; how many */
    unsigned level, active;
    struct thread *parent;
    void (*function)(void *);
    void *argument;
    enum team_form form;
    /* what the thread of a `single` gives to the others; and what it has given,
     * for the next barrier to tell the other ranks */
    void *copyprivate, *given;
};

/* A region that begins with a loop or sections (parallel.c). It lies on the
 * stack of the thread that began the region: in shared memory. */
struct combined {
    void *argument;
    struct loop_bounds loop;
    uint32_t schedule;
};

/* A thread's part in its team: an implicit task. */
struct thread {
    struct team *team;
    unsigned id;
    struct task implicit;
    struct task *task; /* the one that it runs: the implicit one, or another */
    bool in_final;     /* ... and the task's settings */
    struct icv icv;
    struct loop loop; /* the one that it is in */
    /* how many `single` constructs, and loops of each kind (loop.h), this and
     * earlier teams have met; equal in all threads */
    uint64_t singles, loops;
    uint32_t turns;
    /* the last turn of the region's last `ordered` loop; 0: it has had none */
    uint64_t last_turn;
    uint64_t rooms;            /* constructs that had one (room.h) */
    struct room *room;         /* of its last loop; NULL: it has none */
    struct doacross *doacross; /* that loop is ordered with depend */
};

/* The calling thread. */
struct thread *self(void);

/* How many threads any region has at most: thread-limit-var. */
unsigned team_limit(void);
/* How many threads a region of this thread has at most. @asked: 0: as the
 * settings say. */
unsigned team_threads(unsigned asked);
/* Runs the region in @threads threads; 0: as the settings say. Returns how many
 * it has had. */
unsigned team_run(void (*function)(void *), void *argument, enum team_form form,
                  unsigned threads);
/* Waits for all threads of the team; all see what all have written. @site: the
 * place in the program, which names what follows (memory_interval()). */
void team_barrier(const void *site);
/* That of the caller of an interface function. */
#define SITE __builtin_return_address(0)

/* Regions of several threads that this rank took part in, and barriers in
 * them. */
struct counts {
    uint64_t regions, barriers;
};
struct counts team_counts(void);

/* For ranks but 0: takes part in all regions until the program ends. */
void team_serve(void);
/* For rank 0: ends the other ranks' team_serve(). False: this is a thread of a
 * region, so they can't be told. */
bool team_dismiss(void);

#endif
