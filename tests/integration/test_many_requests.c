/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank asks for connections, and gives up, many times. That harms nobody
 * else: a rank that takes no requests meanwhile keeps its other connections,
 * and one that waits takes them.
 */
#include "taken.h"

#define EPS      8u
#define ATTEMPTS 40u /* more requests than their EVD holds */

/* In memory that the ranks share. */
static struct {
    _Atomic unsigned requests; /* of rank 0, taken by rank 2 */
    _Atomic bool done;
} * board;

static void taken(const DAT_EVENT *event)
{
    if (event->event_number == DAT_CONNECTION_REQUEST_EVENT)
        board->requests++;
}

/* The asking rank is impatient. Ranks 1 and 2 connect. */
static void begin(struct rank *r)
{
    drail_config_t cfg;
    drail_config_init(&cfg);
    take_rails(&cfg, 1);
    cfg.eps = EPS;
    cfg.depth = 4;
    cfg.connect_timeout_ms = r->rank ? 20000 : 5;
    drail_close(r->t);
    check(drail_open(r->job, &cfg, &r->t, NULL) == 0);
    if (r->rank > 0)
        expect(r, 0, drail_connect(r->t, 3 - r->rank));
    board->requests = 0;
    barrier_outside(r);
}

static void end(struct rank *r)
{
    barrier(r);
    if (r->rank == 2) /* looks for errors, too */
        expect(r, DRAIL_ETIMEOUT, drail_notify_wait(r->t, 1, NULL, 1));
    if (r->rank == 1)
        expect(r, 0, drail_notify_wait(r->t, 2, NULL, -1));
    if (r->rank == 2)
        expect(r, 0, drail_notify(r->t, 1, 0, 0));
}

static void not_taken(struct rank *r)
{
    begin(r);
    for (unsigned n = 0; r->rank == 0 && n < ATTEMPTS; n++)
        check(drail_connect(r->t, 2) != 0);
    barrier_outside(r);
    if (r->rank == 2) /* it takes them as soon as it is in end() */
        check(board->requests == 0);
    end(r);
}

/* The waiting rank may be quick enough for the impatient. */
static void until_taken(struct rank *r)
{
    for (double start = seconds(); !board->requests;) {
        int rc = drail_connect(r->t, 2);
        check(rc != 0 || board->requests > 0);
        check(seconds() - start < 20);
    }
    board->done = true;
}

static void taken_in_a_wait(struct rank *r)
{
    begin(r);
    if (r->rank == 0)
        until_taken(r);
    if (r->rank == 1) {
        for (double start = seconds(); !board->done; nap(1))
            check(seconds() - start < 30);
        expect(r, 0, drail_notify(r->t, 2, 0, 0));
    }
    if (r->rank == 2)
        expect(r, 0, drail_notify_wait(r->t, 1, NULL, -1));
    end(r);
}

static const struct test tests[] = {
    {"not taken", 3, not_taken, NULL, APART},
    {"taken in a wait", 3, taken_in_a_wait, NULL, APART},
};

RUN_TESTS_AFTER(board = shared_memory(sizeof *board), 1, tests)
