/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A side's connect fails when the other's has succeeded: the latter's
 * connection ends, and both can connect anew. Stands in for the provider at its
 * own calls: the failing side gets errors instead of its establishments, once
 * the other has all of them. If only the last one fails, both go on.
 */
#include "no_direct.h"
#include "rails_up.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define RAILS 2u
#define TESTS 7u /* each also with several EPs */

/* The ranks' observations, in memory that they share. */
struct board {
    _Atomic unsigned established[3], requests[3];
};

static struct board *boards, *board; /* each test has its own */
static unsigned self;
static unsigned links = RAILS; /* of a connection */
static unsigned fails; /* so many of the last ones, of this rank's, … */
static DAT_EVENT late[2 * RAILS]; /* … which are these */
static unsigned nlate;

static bool other_has_all(void)
{
    return board->established[1 - self] >= links;
}

/* Counts what comes; true: not now. */
static bool held_back(DAT_EVENT *event)
{
    if (event->event_number == DAT_CONNECTION_REQUEST_EVENT)
        board->requests[self]++;
    if (event->event_number != DAT_CONNECTION_EVENT_ESTABLISHED)
        return false;
    if (++board->established[self] + fails <= links || nlate == fails)
        return false;
    late[nlate++] = *event;
    return true;
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    for (unsigned i = 0; nlate == fails && i < nlate && other_has_all(); i++) {
        if (late[i].evd_handle != evd)
            continue;
        *event = late[i];
        event->event_number = DAT_CONNECTION_EVENT_TIMED_OUT;
        late[i] = late[--nlate];
        fails--;
        return DAT_SUCCESS;
    }
    DAT_RETURN status = real(dat_evd_dequeue)(evd, event);
    if (status == DAT_SUCCESS && held_back(event))
        status = (DAT_RETURN)DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;
    return status;
}

static int talk(struct rank *r, unsigned peer)
{
    int rc = drail_notify(r->t, peer, DRAIL_ALL_RAILS, r->rank);
    uint32_t id = peer;
    if (!rc)
        rc = drail_notify_wait(r->t, peer, &id, -1);
    check(id == peer);
    return rc;
}

/* After that the loser's connect has failed, and the other's has not. */
static void connect_half(struct rank *r, unsigned loser)
{
    int want = r->rank == loser ? DRAIL_ETIMEOUT : 0;
    fails = r->rank == loser ? links : 0;
    expect(r, want, drail_connect(r->t, r->peer));
}

static void begin(struct rank *r, unsigned test)
{
    self = r->rank;
    board = &boards[test + (links > RAILS ? TESTS : 0)];
}

static void both_sides(struct rank *r, unsigned loser)
{
    begin(r, loser);
    connect_half(r, loser);
    if (r->rank != loser)
        expect(r, DRAIL_EPEER, drail_notify_wait(r->t, loser, NULL, -1));
    barrier(r);
    for (unsigned n = 0; n < 2; n++) {
        expect(r, 0, drail_connect(r->t, r->peer));
        expect(r, 0, talk(r, r->peer));
    }
}

static void active_fails(struct rank *r)
{
    both_sides(r, 0);
}

static void passive_fails(struct rank *r)
{
    both_sides(r, 1);
}

/* A link that is up at one end only is made again, without a word. */
static void one_link(struct rank *r, unsigned loser)
{
    begin(r, 5 + loser);
    fails = r->rank == loser;
    expect(r, 0, drail_connect(r->t, r->peer));
    expect(r, 0, talk(r, r->peer));
    check(!fails);
    await_rails_up(r);
    expect(r, 0, talk(r, r->peer));
}

static void active_lacks_one(struct rank *r)
{
    one_link(r, 0);
}

static void passive_lacks_one(struct rank *r)
{
    one_link(r, 1);
}

/* The end may not be known yet when it connects again. */
static void at_once(struct rank *r)
{
    int rc;
    unsigned tries = 0;
    begin(r, 2);
    connect_half(r, 0);
    do {
        rc = drail_connect(r->t, r->peer);
        if (!rc)
            rc = talk(r, r->peer);
    } while (rc == DRAIL_EPEER && ++tries < 5);
    expect(r, 0, rc);
}

/* Rank 1 has taken two requests for each link. */
static void await_requests(void)
{
    double begin = seconds();
    while (board->requests[1] < 2 * links && seconds() - begin < 20)
        nap(1);
    check(board->requests[1] == 2 * links);
}

/* Rank 0 asks anew while rank 1 connects to rank 2. */
static void meanwhile(struct rank *r)
{
    begin(r, 3);
    if (r->rank < 2)
        connect_half(r, 0);
    barrier(r);
    if (r->rank == 2)
        await_requests();
    if (r->rank == 1) {
        expect(r, 0, drail_connect(r->t, 2));
        expect(r, DRAIL_EPEER, drail_notify(r->t, 0, 0, 0));
        expect(r, 0, talk(r, 2));
        expect(r, 0, drail_connect(r->t, 0));
        expect(r, 0, talk(r, 0));
    } else {
        expect(r, 0, drail_connect(r->t, 1));
        expect(r, 0, talk(r, 1));
    }
}

/* A side leaves while the other's requests wait for an answer. */
static void no_answer(struct rank *r)
{
    begin(r, 4);
    if (r->rank < 2)
        connect_half(r, 0);
    barrier(r);
    if (r->rank == 0) {
        check(drail_connect(r->t, 1) != 0);
    } else if (r->rank == 1) {
        expect(r, 0, drail_connect(r->t, 2));
        drail_close(r->t);
        r->t = NULL;
    } else {
        await_requests();
        expect(r, 0, drail_connect(r->t, 1));
    }
}

static void patient(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->connect_timeout_ms = 20000;
}

static void several(drail_config_t *cfg)
{
    patient(cfg);
    cfg->eps = 2;
    links = 2 * RAILS;
}

/* The passive side waits for another request until its time is out. */
static void impatient(drail_config_t *cfg)
{
    take_rails(cfg, RAILS);
    cfg->connect_timeout_ms = 3000;
}

static const struct test tests[] = {
    {"the active side's connect fails", 2, active_fails, patient, APART},
    {"the passive side's connect fails", 2, passive_fails, impatient, APART},
    {"connected again at once", 2, at_once, patient, APART},
    {"connected again at once, 2 EPs", 2, at_once, several, APART},
    {"the active side lacks a link", 2, active_lacks_one, patient, APART},
    {"the passive side lacks a link", 2, passive_lacks_one, patient, APART},
    {"it lacks one of 4", 2, passive_lacks_one, several, APART},
    {"asked anew meanwhile", 3, meanwhile, patient, APART},
    {"asked anew meanwhile, 2 EPs", 3, meanwhile, several, APART},
    {"asked anew, no answer", 3, no_answer, patient, APART},
};

RUN_TESTS_AFTER(boards = shared_memory(2 * TESTS * sizeof *board), 1, tests)
