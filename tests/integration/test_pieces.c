/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages somewhat longer than eager ones go over TCP in pieces. */
#include <signal.h>

#include "dapl_rail/base/handle.h"
#include "losses_tcp.h"
#include "pieces.h"
#include "proc_state.h"

#define PAUSE_MS    150 /* before each piece */
#define PATIENCE_MS 400 /* less than for all pieces */

static void over_one(struct rank *r)
{
    one_way(r, 0, 0);
    barrier(r);
    one_way(r, 1, ROW);
    check(!rail_stats(r, 0).gets);
}

/* The peer takes them later, so that all are under way. */
static void over_several(struct rank *r)
{
    if (r->rank == 1)
        barrier_outside(r);
    one_way(r, 0, 2); /* the first one is short: the others are in its row */
    if (r->rank == 0)
        barrier_outside(r);
    barrier(r);
    for (unsigned i = 0; i < RAILS; i++) {
        check(r->rank == 1 || rail_stats(r, i).sends >= ROW / RAILS);
        check(!rail_stats(r, i).gets);
    }
}

/* Short puts fill the queue of requests: no piece fits, and none is sent. */
static void to_a_stopped_peer(struct rank *r, const struct memory *m, pid_t pid)
{
    drail_xfer_t x = memory_xfer(r, m, 8);
    int rc;
    check(!kill(pid, SIGSTOP));
    check_within(20, proc_state(pid) == 'T');
    do
        rc = drail_put(r->t, 1, &x, 0, 0, NULL);
    while (!rc);
    if (rc == DRAIL_ETIMEOUT)
        rc = drail_send(r->t, 1, bytes, MOST, NULL);
    check(!kill(pid, SIGCONT));
    expect(r, DRAIL_ETIMEOUT, rc);
}

static void without_room(struct rank *r)
{
    struct memory m;
    pid_t pids[2], pid = getpid();
    memory_open(r, &m, 8);
    check(!drail_job_allgather(r->job, &pid, sizeof pid, pids, -1));
    if (r->rank == 0)
        to_a_stopped_peer(r, &m, pids[1]);
    one_way(r, 0, 0);
    memory_close(r, &m);
}

/* Stands in for a slow wire. */
static bool pause_first(DAT_EP_HANDLE ep, DAT_DTO_COOKIE cookie)
{
    (void)ep, (void)cookie;
    usleep(PAUSE_MS * 1000);
    return false;
}

/* Each piece restarts the configuration's timeout, but not the caller's. */
static void slowly(struct rank *r)
{
    size_t got;
    if (r->rank == 0) {
        cut.full = pause_first;
        send_one(r, 1);
        send_one(r, 1);
        cut.full = NULL;
    } else {
        int usual = r->t->cfg.timeout_ms; /* for the start and the end */
        r->t->cfg.timeout_ms = PATIENCE_MS;
        receive_one(r, 1);
        expect(r, DRAIL_ETIMEOUT,
               drail_recv(r->t, 0, bytes, MOST, &got, PATIENCE_MS));
        receive_one(r, 1);
        r->t->cfg.timeout_ms = usual;
    }
    barrier(r);
}

static void break_under_load(struct rank *r)
{
    double end = seconds() + SECONDS, late = seconds() + 60;
    for (unsigned first = 0; goes_on(r, end); first += ROW) {
        break_something(r, 4 * ROW);
        one_way(r, 0, first);
        one_way(r, 1, first);
        check(seconds() < late);
    }
    break_no_more(r);
}

static void hasty(drail_config_t *cfg)
{
    one(cfg);
    cfg->timeout_ms = 2500;
}

static const struct test tests[] = {
    {"one rail", 2, over_one, one, 0},
    {"several rails", 2, over_several, three, 0},
    {"without credits", 2, without_credits, hasty, 0},
    {"without room", 2, without_room, hasty, 0},
    {"slowly", 2, slowly, one, 0},
    {"too long", 2, too_long, one, 0},
    {"without waiting", 2, without_waiting, one, 0},
    {"connections break", 2, break_under_load, three, 0},
};

RUN_TESTS_OVER_TCP(tests)
