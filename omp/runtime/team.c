/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/team.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/files.h"
#include "omp/runtime/interval.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/output.h"
#include "omp/runtime/statistics/regions.h"
#include "omp/runtime/sleep.h"
#include "omp/runtime/system/environment.h"
#include "omp/runtime/tasks/pool.h"

/* What a rank says in a barrier. Rank 0's decides: the ranks that have no
 * thread in a region learn from it where the region ends. */
enum meeting {
    MEET_BYSTANDER, /* of a rank without threads */
    MEET_BARRIER,   /* within a region */
    MEET_FORK,      /* a region begins */
    MEET_JOIN,      /* it ends */
    MEET_EXIT,      /* the program ends */
};
struct note {
    uint16_t meeting;
    uint8_t form;
    uint8_t files_are_queued : 1, environment_is_changed : 1;
    uint32_t threads;
    void (*function)(void *);
    void *argument;
    void *copyprivate;
    uint64_t singles;
    uint64_t loops : POSITION_BITS, turns : 64 - POSITION_BITS;
    struct icv icv;
};
_Static_assert(sizeof(struct note) <= NOTE_BYTES, "a note is too long");

/* A thread of the pool. */
struct worker {
    pthread_t id;
    struct event begin;
    struct team *team; /* its next region; NULL: it ends */
    struct thread thread;
};

/* Of this rank: its threads but the first, which is the program's own. */
static struct pool {
    struct worker **workers;
    unsigned count;
    _Atomic bool busy; /* a region of several threads runs */
    /* the barrier of this rank's threads */
    _Atomic unsigned arrived;
    _Atomic uint32_t passed; /* barriers */
    struct counts counts;
    /* what the next region goes on from, whichever thread begins it */
    uint64_t singles, loops;
    uint32_t turns;
} pool;

static struct team alone = {.threads = 1, .here = 1};
static __thread struct thread initial, *current;

struct thread *self(void)
{
    if (!current) {
        initial.team = &alone;
        initial.task = &initial.implicit;
        initial.icv = settings.first;
        current = &initial;
    }
    return current;
}

/* --------------------------------------------------------------- barriers */

static struct note *note_of(char *all, unsigned rank)
{
    return (struct note *)(all + (size_t)rank * NOTE_BYTES);
}

/* Each rank has the environment that ranks have set, unless they end. What
 * ranks have written to files of others is in these files before any rank goes
 * on. */
static void settle(char *all)
{
    bool are_queued = false, is_changed = false;
    for (unsigned r = 0; r < memory_ranks(); r++) {
        are_queued |= note_of(all, r)->files_are_queued;
        is_changed |= note_of(all, r)->environment_is_changed;
    }
    if (is_changed && note_of(all, 0)->meeting != MEET_EXIT)
        environment_follow();
    if (!are_queued)
        return;
    files_drain();
    memory_barrier(NULL, NULL);
}

/* The notes of all ranks. */
static char *exchange(const struct note *mine)
{
    static char *all;
    char padded[NOTE_BYTES] = {0};
    if (!all && !(all = calloc(memory_ranks(), NOTE_BYTES)))
        fail(FAILED, "out of memory");
    memcpy(padded, mine, sizeof *mine);
    note_of(padded, 0)->files_are_queued = files_are_queued();
    note_of(padded, 0)->environment_is_changed = environment_is_changed();
    memory_barrier(padded, all);
    settle(all);
    return all;
}

static const char *place_of(unsigned meeting)
{
    return meeting == MEET_JOIN ? "at the end of the region" : "in a barrier";
}

/* Of the ranks; called by one thread of this one. */
static void meet(struct team *team, enum meeting meeting)
{
    const struct note mine = {.meeting = (uint16_t)meeting,
                              .copyprivate = team->given};
    output_flush();
    output_flush_units();
    char *all = exchange(&mine);
    for (unsigned r = 0; r < memory_ranks(); r++) {
        const struct note *note = note_of(all, r);
        if (note->meeting != meeting && note->meeting != MEET_BYSTANDER)
            fail(FAILED,
                 "rank %u is %s while this rank is %s: not all threads have "
                 "met the same barriers",
                 r, place_of(note->meeting), place_of(meeting));
        if (note->copyprivate)
            team->copyprivate = note->copyprivate;
    }
    team->given = NULL;
}

/* The threads of a rank run tasks until none is left; the last thread to come
 * meets the other ranks. */
static void await_all(struct thread *t, enum meeting meeting, const void *site)
{
    struct team *team = t->team;
    const uint32_t seen = atomic_load(&pool.passed);
    /* read before arriving: at the end of a region the team is on the stack of
     * a thread that goes on when all have arrived */
    const unsigned here = team->here;
    if (atomic_fetch_add(&pool.arrived, 1) + 1 < here) {
        task_help(t, &pool.passed, seen);
        return;
    }
    task_finish_all(t);
    atomic_store(&pool.arrived, 0);
    pool.counts.barriers += meeting == MEET_BARRIER;
    if (memory_ranks() > 1) {
        meet(team, meeting);
        interval_begin(site);
    }
    atomic_fetch_add(&pool.passed, 1);
    task_wake();
}

void team_barrier(const void *site)
{
    struct thread *t = self();
    if (t->team->threads > 1)
        await_all(t, MEET_BARRIER, site);
}

struct counts team_counts(void)
{
    return pool.counts;
}

/* ---------------------------------------------------------------- regions */

/* The thread's part of a region, up to its end. */
static void run(struct thread *t, const struct team *team)
{
    struct thread *outer = current;
    current = t;
    struct task_group group = {0};
    t->task = &t->implicit;
    if (team->form == TEAM_REDUCES) {
        group.reductions = *(uintptr_t **)team->argument;
        t->task->group = &group;
    }
    if (team->form == TEAM_COMBINED) {
        const struct combined *c = team->argument;
        loop_begin(t, c->loop, c->schedule, false);
        team->function(c->argument);
    } else {
        team->function(team->argument);
    }
    loop_end_sharing(t);
    if (team->threads > 1)
        await_all(t, MEET_JOIN, NULL);
    current = outer;
}

static void *worker_main(void *argument)
{
    struct worker *w = argument;
    for (uint32_t turn = 0;; turn++) {
        event_wait(&w->begin, turn);
        struct team *team = w->team;
        if (!team)
            return NULL;
        run(&w->thread, team);
    }
}

static struct worker *start_worker(unsigned number)
{
    struct worker *w = calloc(1, sizeof *w);
    int rc = w ? memory_thread(&w->id, number, worker_main, w) : -1;
    if (rc)
        fail(FAILED, "thread %u can't be started: %s", number,
             rc < 0 ? "out of memory" : strerror(rc));
    return w;
}

static void grow_pool(unsigned count)
{
    if (count <= pool.count)
        return;
    struct worker **workers =
        realloc(pool.workers, count * sizeof *pool.workers);
    if (!workers)
        fail(FAILED, "out of memory");
    pool.workers = workers;
    for (; pool.count < count; pool.count++)
        pool.workers[pool.count] = start_worker(pool.count + 1);
}

/* Before their stacks go. */
static void end_pool(void)
{
    for (unsigned i = 0; i < pool.count; i++) {
        pool.workers[i]->team = NULL;
        event_signal(&pool.workers[i]->begin);
        pthread_join(pool.workers[i]->id, NULL);
    }
    pool.count = 0;
}

/* This rank's part of a region, up to its end. @pattern: what its threads begin
 * with. */
static void run_here(struct team *team, const struct thread *pattern)
{
    grow_pool(team->here - 1);
    const bool ends_lines = files_begin_lines();
    pool.counts.regions++;
    regions_begin();
    interval_begin_region(team->function);
    for (unsigned i = 1; i < team->here; i++) {
        struct worker *w = pool.workers[i - 1];
        w->thread = *pattern;
        w->thread.id = team->first + i;
        w->team = team;
        event_signal(&w->begin);
    }
    struct thread mine = *pattern;
    mine.id = team->first;
    run(&mine, team);
    regions_end(team->function);
    if (ends_lines)
        files_end_lines();
    /* equal in all threads */
    pool.singles = mine.singles;
    pool.loops = mine.loops;
    pool.turns = mine.turns;
}

/* Which of the threads are this rank's: equally many in all ranks, or one more
 * in some; the first one is in rank 0. */
static void place(struct team *team)
{
    const uint64_t ranks = memory_ranks(), rank = memory_rank();
    const uint64_t first = (rank * team->threads + ranks - 1) / ranks;
    const uint64_t last = ((rank + 1) * team->threads + ranks - 1) / ranks;
    team->first = (unsigned)first;
    team->here = (unsigned)(last - first);
}

unsigned team_limit(void)
{
    const unsigned limit = shared_words->league.limit;
    return limit && limit < settings.limit ? limit : settings.limit;
}

unsigned team_threads(unsigned asked)
{
    const struct thread *t = self();
    const unsigned threads = asked ? asked : t->icv.threads;
    if (t->team->active || !t->icv.levels || !threads)
        return 1;
    const unsigned limit = team_limit();
    return threads < limit ? threads : limit;
}

unsigned team_run(void (*function)(void *), void *argument, enum team_form form,
                  unsigned asked)
{
    struct thread *t = self();
    struct team team = {.threads = team_threads(asked),
                        .here = 1,
                        .level = t->team->level + 1,
                        .active = t->team->active,
                        .parent = t,
                        .function = function,
                        .argument = argument,
                        .form = form};
    struct thread pattern = {.team = &team, .icv = t->icv};
    /* the other ranks can't see variables of threads that the program has made
     * itself: their stacks are private */
    if (team.threads > 1 &&
        (!memory_is_shared(&team) || atomic_exchange(&pool.busy, true)))
        team.threads = 1;
    if (team.threads == 1) {
        run(&pattern, &team);
        return 1;
    }
    team.active++;
    place(&team);
    pattern.singles = pool.singles;
    pattern.loops = pool.loops;
    pattern.turns = pool.turns;
    if (memory_ranks() > 1) {
        output_begin_region();
        exchange(&(struct note){.meeting = MEET_FORK,
                                .form = (uint8_t)form,
                                .threads = team.threads,
                                .function = function,
                                .argument = argument,
                                .singles = pattern.singles,
                                .loops = pattern.loops & POSITION_MAX,
                                .turns = pattern.turns & TURNS_MAX,
                                .icv = t->icv});
    }
    run_here(&team, &pattern);
    output_end_region();
    atomic_store(&pool.busy, false);
    return team.threads;
}

/* ------------------------------------------------------------ other ranks */

static void serve_region(const struct note *note)
{
    struct team team = {.threads = note->threads,
                        .level = 1,
                        .active = 1,
                        .function = note->function,
                        .argument = note->argument,
                        .form = note->form};
    const struct thread pattern = {.team = &team,
                                   .icv = note->icv,
                                   .singles = note->singles,
                                   .loops = note->loops,
                                   .turns = note->turns};
    team.parent = self();
    place(&team);
    if (team.here)
        run_here(&team, &pattern);
}

void team_serve(void)
{
    for (;;) {
        const struct note note =
            *note_of(exchange(&(struct note){.meeting = MEET_BYSTANDER}), 0);
        if (note.meeting == MEET_EXIT)
            break;
        if (note.meeting == MEET_FORK)
            serve_region(&note);
    }
    end_pool();
}

bool team_dismiss(void)
{
    if (current && current->team->active)
        return false;
    exchange(&(struct note){.meeting = MEET_EXIT});
    end_pool();
    return true;
}
