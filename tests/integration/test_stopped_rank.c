/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that is stopped (SIGSTOP) is not dead: the others wait for it as long
 * as their timeout allows, and all go on when it does.
 */
#include <pthread.h>
#include <signal.h>

#include "proc_state.h"
#include "scene.h"

#define RANKS    3
#define STOPPED  1                /* this rank */
#define ROUNDS   40               /* of collectives; it stops in the middle: */
#define EARLIEST (ROUNDS / 2)     /* not before this round */
#define LATEST   (ROUNDS / 4 * 3) /* it begins this round only after its stop */
#define STOP_MS  700
#define TIME_MS  1500 /* of those that are impatient */

static struct board {
    volatile pid_t pid;
    volatile unsigned round;
    volatile bool was_stopped;
} * board;

/* In a rank that is not stopped: stops it when it is under way, until `ms`
 * after that. */
static void *stopper(void *ms)
{
    while (board->round < EARLIEST)
        nap(1);
    kill(board->pid, SIGSTOP);
    check_within(10, proc_state(board->pid) == 'T');
    board->was_stopped = true;
    nap((int)(intptr_t)ms);
    kill(board->pid, SIGCONT);
    return NULL;
}

static int one_round(struct scene *s, unsigned round)
{
    static const char *const names[] = {"ring", "bruck", "direct"};
    dcoll_call_t c = {DCOLL_ALLGATHER,  s->send, s->recv, 1000 * (round % 4), 0,
                      names[round % 3], NULL,    NULL};
    give(s, &c, round);
    int rc = dcoll_run(s->team, &c);
    if (!rc)
        check(got(s, &c, round));
    return rc;
}

/* Goes through the rounds as far as it can; rank 0 has the other one stopped
 * for so long. Returns the error. */
static int rounds(struct rank *r, int ms)
{
    struct scene s;
    pthread_t thread;
    int rc = 0;
    scene_open(&s, r, 2);
    if (r->rank == STOPPED) {
        board->round = 0;
        board->was_stopped = false;
        board->pid = getpid();
    }
    barrier(r);
    if (r->rank == 0)
        check(!pthread_create(&thread, NULL, stopper, (void *)(intptr_t)ms));
    for (unsigned i = 0; !rc && i < ROUNDS; i++) {
        if (r->rank == STOPPED)
            board->round = i;
        if (r->rank == STOPPED && i == LATEST)
            check_within(20, board->was_stopped);
        nap(1); /* so that it is in the middle when it is seen there */
        rc = one_round(&s, i);
    }
    if (r->rank == 0)
        check(!pthread_join(thread, NULL));
    if (rc)
        printf("# rank %u: %s\n", r->rank, dcoll_last_error(s.team));
    else
        scene_close(&s);
    return rc;
}

static void goes_on(struct rank *r)
{
    expect(r, 0, rounds(r, STOP_MS));
}

/* Ranks that wait give up when their time is over, as with any other rank that
 * does not come; the stopped rank hears of that later. */
static void too_long(struct rank *r)
{
    int rc = rounds(r, 2 * TIME_MS);
    if (r->rank == STOPPED)
        check(rc == DRAIL_ETIMEOUT || rc == DRAIL_EPEER);
    else
        expect(r, DRAIL_ETIMEOUT, rc);
    barrier(r);
    drail_close(r->t);
    _exit(0);
}

static void impatient(drail_config_t *cfg)
{
    cfg->timeout_ms = TIME_MS;
}

static const struct test tests[] = {
    {"stopped on the node", RANKS, goes_on, NULL, APART},
    {"stopped on another node", RANKS, goes_on, NULL, APART | PPN(1)},
    {"stopped for too long", RANKS, too_long, impatient, APART | PPN(2)},
};

RUN_TESTS_AFTER(board = shared_memory(sizeof *board), 1, tests)
