/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Over TCP, a rank is stopped (SIGSTOP) in the middle of collectives. The
 * others' call fails. Then they free the team, which is broken: that does not
 * take long, although the stopped rank may still be inside their memory.
 */
#include <signal.h>

#include "over_tcp.h"
#include "proc_state.h"
#include "scene.h"

#define STOPPED 1 /* this rank */
#define ROUNDS  1000000
#define EARLY   20   /* rounds before the stop */
#define TIME_MS 4000 /* of calls, and of drail_open */
#define FREE_S  0.7

static struct board {
    volatile pid_t pid;
    volatile unsigned round;
} * board;

static int go_on(struct scene *s)
{
    static const char *const names[] = {"ring", "bruck", "direct"};
    int rc = 0;
    for (unsigned i = 0; !rc && i < ROUNDS; i++) {
        dcoll_call_t c = {DCOLL_ALLGATHER, s->send, s->recv, MOST, 0,
                          names[i % 3],    NULL,    NULL};
        if (s->r->rank == STOPPED)
            board->round = i;
        else if (s->r->rank == 0 && board->round >= EARLY)
            check(!kill(board->pid, SIGSTOP));
        rc = dcoll_run(s->team, &c);
    }
    return rc;
}

static void frees(struct rank *r)
{
    struct scene s;
    scene_open(&s, r, 2);
    if (r->rank == STOPPED) {
        board->pid = getpid();
        board->round = 0;
    }
    barrier(r);
    int rc = go_on(&s);
    printf("# rank %u: %s\n", r->rank, dcoll_last_error(s.team));
    double begin = seconds();
    dcoll_team_free(s.team);
    double took = seconds() - begin;
    printf("# rank %u: freed in %.3f s\n", r->rank, took);
    fflush(stdout); /* _exit() does not */
    if (r->rank == 0) {
        expect(r, DRAIL_ETIMEOUT, rc);
        check(proc_state(board->pid) == 'T');
        check(!kill(board->pid, SIGCONT));
        check(took < FREE_S);
    }
    barrier(r);
    drail_close(r->t);
    _exit(0);
}

static void impatient(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a", "tcp-b");
    cfg->timeout_ms = TIME_MS;
}

static void bonded(drail_config_t *cfg)
{
    impatient(cfg);
    use_rails(cfg, "bond-ab");
}

static const struct test tests[] = {
    {"two rails", 2, frees, impatient, APART | PPN(1)},
    {"a bond", 2, frees, bonded, APART | PPN(1)},
};

int main(int argc, char **argv)
{
    board = shared_memory(sizeof *board);
    return over_tcp(tests, sizeof tests / sizeof tests[0], argc, argv);
}
