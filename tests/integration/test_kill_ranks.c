/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A random rank of 3 to 6 is killed at a random moment of random collectives,
 * of their preparation, or of the job's start: every other rank gets an error
 * soon, can close everything, and nothing is left.
 *
 * usage: test_kill_ranks [ROUNDS [SEED]]
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/random.h>

#include "scene.h"

#define RANKS_MOST 6

/* Seconds from the death until a rank has closed. On a machine that has nothing
 * else to do 5 are enough, as a caller with arguments has; timeouts are of
 * 30. */
static double limit = 15;

struct survivor {
    volatile int rc;
    volatile double ended; /* when; 0: not by itself */
    char text[256];        /* the error's, or what it does */
};

static struct board {
    uint64_t seed; /* of what all ranks do */
    unsigned nranks, ppn, victim, delay_us;
    drail_engine_t engine;
    volatile double died;
    struct survivor of[RANKS_MOST];
} * board;

static void *killer(void *arg)
{
    struct timespec ts = {.tv_nsec = board->delay_us * 1000L};
    nanosleep(&ts, NULL);
    board->died = seconds();
    kill(getpid(), SIGKILL);
    return arg;
}

/* ------------------------------------------------------ random collectives */

/* Contents must be right unless the call fails. */
static int verified(struct scene *s, const dcoll_call_t *c, unsigned start,
                    int rc)
{
    if (!rc)
        check(got(s, c, start));
    return rc;
}

static int blocking(struct scene *s, const dcoll_call_t *c, unsigned starts)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < starts; i++) {
        give(s, c, i);
        rc = verified(s, c, i, dcoll_run(s->team, c));
    }
    return rc;
}

static int persistent(struct scene *s, const dcoll_call_t *c, unsigned starts)
{
    dcoll_request_t *q;
    int rc = dcoll_init(s->team, c, &q);
    if (rc)
        return rc;
    for (unsigned i = 0; !rc && i < starts; i++) {
        give(s, c, i);
        rc = dcoll_start(q);
        if (!rc)
            rc = verified(s, c, i, dcoll_wait(q, -1));
    }
    int freed = dcoll_free(q);
    return rc ? rc : freed;
}

static int tested(struct scene *s, const dcoll_call_t *c, unsigned starts)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < starts; i++) {
        dcoll_request_t *q;
        give(s, c, i);
        rc = dcoll_begin(s->team, c, &q);
        while (!rc && (rc = dcoll_test(q)) == DRAIL_EAGAIN) {
            sched_yield();
            rc = 0;
            if (drail_job_interrupted(s->r->job))
                return DRAIL_EINTR;
        }
        rc = verified(s, c, i, rc);
    }
    return rc;
}

static const dcoll_algorithm_t *any_algorithm(uint64_t random)
{
    unsigned n = 0;
    while (dcoll_algorithms()[n])
        n++;
    return dcoll_algorithms()[random % n];
}

/* The ranks draw the same. */
static int any_call(struct scene *s)
{
    static int (*const ways[])(struct scene *, const dcoll_call_t *,
                               unsigned) = {blocking, persistent, tested};
    static const size_t most[] = {16, 1000, MOST};
    struct survivor *me = &board->of[s->r->rank];
    const dcoll_algorithm_t *a = any_algorithm(rnd(s->r));
    size_t bytes = rnd(s->r) % (most[rnd(s->r) % 3] + 1);
    unsigned root = (unsigned)(rnd(s->r) % s->r->size);
    bool in_place = rnd(s->r) % 4 == 0;
    unsigned way = rnd(s->r) % 3, starts = 1 + rnd(s->r) % 5;
    dcoll_call_t c;
    if (!scene_call(s, a, bytes, root, in_place, &c))
        return 0;
    snprintf(me->text, sizeof me->text, "%s %s of %zu bytes, way %u",
             dcoll_collective_name(a->collective), a->name, bytes, way);
    return ways[way](s, &c, starts);
}

/* ------------------------------------------------------------------ ranks */

static int collectives(struct rank *r, drail_error_t *err)
{
    struct scene s = {.r = r};
    int rc = dcoll_team_create(r->job, r->t, NULL, &s.team, err);
    if (rc)
        return rc;
    scene_memory(&s);
    while (!rc)
        rc = any_call(&s);
    snprintf(err->text, sizeof err->text, "%s", dcoll_last_error(s.team));
    dcoll_team_free(s.team);
    return rc;
}

static int rank_lives(drail_job_t *job, void *arg)
{
    struct rank r = {
        .job = job, .rank = drail_job_rank(job), .size = drail_job_size(job)};
    struct survivor *me = &board->of[r.rank];
    drail_config_t cfg;
    drail_error_t err = {0};
    pthread_t thread;
    r.rng = board->seed;
    if (r.rank == board->victim)
        check(pthread_create(&thread, NULL, killer, NULL) == 0);
    drail_config_init(&cfg);
    take_rails(&cfg, 2);
    cfg.engine = board->engine;
    snprintf(me->text, sizeof me->text, "opens");
    int rc = drail_open(job, &cfg, &r.t, &err);
    if (!rc)
        rc = collectives(&r, &err);
    size_t used = strlen(me->text);
    snprintf(me->text + used, sizeof me->text - used, ": %s", err.text);
    me->rc = rc;
    drail_close(r.t);
    me->ended = seconds();
    return 0;
}

static int look(unsigned rank)
{
    const struct survivor *s = &board->of[rank];
    double took = s->ended ? s->ended - board->died : -1;
    if (rank == board->victim)
        return 0;
    if (s->rc == DRAIL_EPEER && s->ended && took < limit)
        return 0;
    printf("# rank %u: %d (%s), closed %.3f s after the death; %s\n", rank,
           s->rc, drail_strerror(s->rc), took, s->text);
    return 1;
}

static void draw(uint64_t *random)
{
    struct rank r = {.rng = *random};
    static const drail_engine_t engines[] = {
        DRAIL_ENGINE_NONTHREADED, DRAIL_ENGINE_AUTO, DRAIL_ENGINE_THREADED};
    memset(board, 0, sizeof *board);
    board->nranks = 3 + (unsigned)(rnd(&r) % (RANKS_MOST - 2));
    board->ppn = (unsigned)(rnd(&r) % 3);
    board->victim = (unsigned)(rnd(&r) % board->nranks);
    board->delay_us = (unsigned)(rnd(&r) % (rnd(&r) % 2 ? 30000 : 300000));
    board->engine = engines[rnd(&r) % 3];
    board->seed = rnd(&r);
    *random = r.rng;
}

static int round_of(unsigned number, uint64_t *random)
{
    drail_error_t err = {0};
    drail_job_config_t cfg;
    uint64_t seed = *random;
    int failed = 0;
    draw(random);
    drail_job_config_init(&cfg);
    cfg.nranks = board->nranks;
    cfg.ppn = board->ppn;
    cfg.grace_ms = (int)(1000 * limit + 3000); /* for those that hang */
    cfg.error = &err;
    double begin = seconds();
    int rc = drail_job_run(&cfg, rank_lives, NULL);
    if (rc != DRAIL_EJOB || !strstr(err.text, "was killed by signal 9")) {
        printf("# the job: %d: %s\n", rc, err.text);
        failed++;
    }
    for (unsigned rank = 0; rank < board->nranks; rank++)
        failed += look(rank);
    printf("%s %u - seed %#llx: %u ranks, %u per node, engine %s: rank %u "
           "killed after %u us (%.1f s)\n",
           failed ? "not ok" : "ok", number, (unsigned long long)seed,
           board->nranks, board->ppn, drail_engine_name(board->engine),
           board->victim, board->delay_us, seconds() - begin);
    fflush(stdout);
    return !!failed;
}

int main(int argc, char **argv)
{
    unsigned rounds = argc > 1 ? (unsigned)atoi(argv[1]) : 10;
    uint64_t random = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
    int failed = 0;
    if (argc > 1)
        limit = 5;
    if (!random && getrandom(&random, sizeof random, 0) != sizeof random)
        return 1;
    board = shared_memory(sizeof *board);
    for (unsigned i = 1; i <= rounds; i++)
        failed += round_of(i, &random);
    printf("1..%u\n", rounds);
    return failed != 0;
}
