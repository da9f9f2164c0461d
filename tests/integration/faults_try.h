/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scene of two ranks is played again and again, in each round another call of
 * one rank fails (faults.h). Then a call of the library returns an error, or
 * all goes on rightly; nobody waits until his time is out, nothing is left, and
 * the job is as good as before.
 */
#ifndef TESTS_FAULTS_TRY_H
#define TESTS_FAULTS_TRY_H

#include "faults.h"

#define RANKS     2u
#define FILES_MAX 1024
#define TRIES     4
/* Scenes that end by a time, not by a message, take longer. */
#define SECONDS_MOST  7
#define TIMEOUT_MS    10000
#define CONNECTING_MS 700

struct outcome {
    int rc;         /* of the first call that failed */
    bool fired;     /* a call of this rank was made to fail */
    unsigned files; /* that were left, … */
    unsigned blocks;
    bool may_leave; /* as what takes things away has failed */
    double seconds;
    char step[80];  /* where it came to its end, … */
    char what[32];  /* … and what was made to fail, … */
    char place[64]; /* … and its caller */
};

static struct outcome *playing; /* of the round that is played */

struct scene {
    drail_config_t cfg;
    /* Faults are paused when it begins. */
    void (*play)(struct rank *r, const drail_config_t *cfg);
};

/* Rounds that each rank has come to the end of, well or not; in memory that the
 * ranks share. */
static struct board {
    _Atomic unsigned rounds[RANKS];
    atomic_bool more; /* faults to be tried */
} * board;

static unsigned files(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < FILES_MAX; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* The first failure counts. */
static bool step(const char *name, int rc)
{
    if (rc && !playing->rc) {
        playing->rc = rc;
        snprintf(playing->step, sizeof playing->step, "%s", name);
    }
    return rc == 0;
}
#define STEP(call) step(#call, call)

/* Have all ranks come to this place well? What the test itself needs is not
 * made to fail. */
static bool all_well(struct rank *r)
{
    int mine = playing->rc, all[RANKS];
    faults_pause(true);
    int rc = drail_job_allgather(r->job, &mine, sizeof mine, all, -1);
    faults_pause(false);
    for (unsigned i = 0; i < RANKS; i++)
        rc = rc ? rc : all[i];
    return !rc;
}

/* A rank that closes cuts the other off, which may be in its last call yet. */
static inline void await_peer(struct rank *r, drail_t *t)
{
    double end = seconds() + 10;
    unsigned mine = ++board->rounds[r->rank];
    while (!playing->rc && board->rounds[r->peer] < mine && seconds() < end)
        drail_progress(t);
}

/* The call that fails is of `victim`, or none does. */
static struct outcome run_round(struct rank *r, const struct scene *scene,
                                enum fault_kind kind, bool victim)
{
    struct outcome mine = {.files = files(), .seconds = seconds()};
    unsigned before = blocks.n;
    faults_on(kind, victim ? fault.caller : 0, victim ? fault.call : 0);
    playing = &mine;
    faults_pause(true);
    scene->play(r, &scene->cfg);
    mine.fired = faults_off();
    mine.seconds = seconds() - mine.seconds;
    mine.files = files() - mine.files;
    mine.blocks = blocks.n - before;
    mine.may_leave = mine.fired && fault_of_end();
    if (mine.fired) {
        snprintf(mine.what, sizeof mine.what, "%s", atomic_load(&fault.what));
        fault_place(fault.callers[fault.caller].from, mine.place,
                    sizeof mine.place);
    }
    return mine;
}

static void print(const struct rank *r, const struct outcome *o,
                  const char *why)
{
    printf("# rank %u: %s; ", r->rank, why);
    if (o->fired)
        printf("call %u of %s from %s failed; ", fault.call, o->what, o->place);
    printf("%s: %s (%.1f s); left: %d files, %d blocks\n",
           *o->step ? o->step : "all", drail_strerror(o->rc), o->seconds,
           (int)o->files, (int)o->blocks);
    fflush(stdout);
}

static bool is_wrong(const struct outcome *o, bool any_fired)
{
    bool leaves = (int)o->files > 0 || (int)o->blocks > 0;
    return (leaves && !o->may_leave) || o->seconds > SECONDS_MOST ||
           (o->rc && !any_fired);
}

/* A single failure proves nothing: for a moment there may be more lasting
 * objects than before, and the machine may stand still. Then the failure does
 * not come again. */
static bool try_fault(struct rank *r, const struct scene *scene,
                      enum fault_kind kind, unsigned victim)
{
    struct outcome mine, all[RANKS];
    bool wrong = true;
    for (unsigned tries = 0; wrong && tries < TRIES; tries++) {
        mine = run_round(r, scene, kind, r->rank == victim);
        check(drail_job_allgather(r->job, &mine, sizeof mine, all, -1) == 0);
        bool fired = all[victim].fired;
        wrong = is_wrong(&all[0], fired) || is_wrong(&all[1], fired);
    }
    if (wrong || getenv("FAULTS_SHOWN"))
        print(r, &mine, wrong ? "wrong" : "well");
    if (wrong)
        faults_print_left();
    return !wrong;
}

static void scene_config(drail_config_t *cfg)
{
    drail_config_init(cfg);
    take_rails(cfg, 2);
    cfg->depth = 4;
    cfg->eager_bytes = 1024;
    cfg->stripe_threshold = 4096;
    cfg->timeout_ms = TIMEOUT_MS;
    cfg->connect_timeout_ms = CONNECTING_MS;
}

/* All faults of this kind in one rank. */
static void faults_of(struct rank *r,
                      void (*play)(struct rank *r, const drail_config_t *cfg),
                      enum fault_kind kind, unsigned victim)
{
    struct scene scene = {.play = play};
    unsigned wrong = 0, faults = 0;
    bool more = kind != FAULT_MEMORY || FAULTS_OF_MEMORY;
    scene_config(&scene.cfg);
    board->rounds[r->rank] = 0;
    barrier(r);
    for (unsigned i = 0; i < 2; i++)
        run_round(r, &scene, kind, false);
    fault.caller = 0;
    fault.call = 1;
    while (more) {
        wrong += !try_fault(r, &scene, kind, victim);
        faults++;
        barrier(r);
        if (r->rank == victim)
            board->more = faults_next();
        barrier(r);
        more = board->more;
    }
    if (r->rank == victim)
        printf("# %u faults\n", faults);
    fflush(stdout);
    barrier(r);
    check(!wrong);
}

/* The frame's transport is not the one that is tried. */
static void away(drail_config_t *cfg)
{
    take_rails(cfg, 1);
}

/* Tests of a scene. */
#define FAULTS_TESTS(play)                                                     \
    static void dat_of_first(struct rank *r)                                   \
    {                                                                          \
        faults_of(r, play, FAULT_DAT, 0);                                      \
    }                                                                          \
    static void dat_of_second(struct rank *r)                                  \
    {                                                                          \
        faults_of(r, play, FAULT_DAT, 1);                                      \
    }                                                                          \
    static void memory_of_first(struct rank *r)                                \
    {                                                                          \
        faults_of(r, play, FAULT_MEMORY, 0);                                   \
    }                                                                          \
    static void memory_of_second(struct rank *r)                               \
    {                                                                          \
        faults_of(r, play, FAULT_MEMORY, 1);                                   \
    }                                                                          \
    static const struct test tests[] = {                                       \
        {"DAT fails in rank 0", RANKS, dat_of_first, away, APART},             \
        {"DAT fails in rank 1", RANKS, dat_of_second, away, APART},            \
        {"no memory in rank 0", RANKS, memory_of_first, away, APART},          \
        {"no memory in rank 1", RANKS, memory_of_second, away, APART},         \
    };

static void faults_open(void)
{
    board = shared_memory(sizeof *board);
}

#endif
