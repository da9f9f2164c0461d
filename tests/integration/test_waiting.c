/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How one thread waits for several rails: `serial` does not go back to a rail
 * that it has left (Cai et al. 2009, fig. 4), `any` does. And whether it polls
 * before it sleeps. Seen in the calls of dat_evd_wait and dat_evd_dequeue that
 * the library makes.
 */
#include "dapl_rail/batch.h"

#include <sched.h>
#include <unistd.h>

#include "conf.h"
#include "no_direct.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define FAR "rate=500 latency=100000"
static const char rails[] =
    RAIL("far0", FAR) RAIL("far1", FAR) RAIL("far2", FAR);

/* EVDs in the order of their first wait, and returns to one of before. */
static DAT_EVD_HANDLE waited[64];
static unsigned nwaited, returns;
static unsigned polls, yields;   /* before the first wait */
static useconds_t away_us;       /* another program has the core so long */
static bool counts_sleeps;       /* of this rank */
static _Atomic unsigned *sleeps; /* of all ranks: first waits */

/* takes the place of libdat2's */
STAND_IN DAT_RETURN dat_evd_wait(DAT_EVD_HANDLE evd, DAT_TIMEOUT timeout,
                                 DAT_COUNT threshold, DAT_EVENT *event,
                                 DAT_COUNT *more)
{
    if (!nwaited && counts_sleeps)
        ++*sleeps;
    for (unsigned i = 0; i + 1 < nwaited; i++)
        returns += waited[i] == evd;
    if (nwaited < 64 && (!nwaited || waited[nwaited - 1] != evd))
        waited[nwaited++] = evd;
    return real(dat_evd_wait)(evd, timeout, threshold, event, more);
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    polls += !nwaited;
    return real(dat_evd_dequeue)(evd, event);
}

/* Other programs of the machine do not get the core here: the library would
 * take the time for a reason to yield no more. */
STAND_IN int sched_yield(void)
{
    yields += !nwaited;
    if (away_us)
        usleep(away_us);
    return 0;
}

static void forget_waits(void)
{
    nwaited = returns = polls = yields = 0;
}

struct memory {
    unsigned char *bytes;
    drail_mem_t *mem;
    drail_key_t keys[2];
};

static void memory_open(struct rank *r, struct memory *m)
{
    expect(r, 0,
           drail_mem_alloc(r->t, 4096, DRAIL_ACCESS_ALL, (void **)&m->bytes,
                           &m->mem));
    exchange_keys(r, m->mem, m->keys);
    barrier_outside(r); /* later messages are waited for */
}

static void batch(struct rank *r, struct memory *m, unsigned n)
{
    drail_batch_t b = {.xfer = {.local = m->bytes,
                                .local_mem = m->mem,
                                .remote = &m->keys[r->peer],
                                .bytes = 4000},
                       .count = 3,
                       .id = n,
                       .await_reply = true,
                       .account = true};
    uint32_t id = 0;
    forget_waits();
    if (r->rank == 0) {
        expect(r, 0, drail_batch(r->t, 1, &b));
        id = b.reply_id;
        for (unsigned i = 0; i < drail_nrails(r->t); i++)
            check(b.per_rail[i].bytes > 0 && b.per_rail[i].wait_ns > 0);
    } else {
        expect(r, 0, drail_batch_answer(r->t, 0, true, n, &id));
    }
    check(id == n);
    check(nwaited > 0);
}

static void batches(struct rank *r)
{
    struct memory m;
    memory_open(r, &m);
    for (unsigned n = 0; n < 6; n++) {
        bool serial = n % 2;
        expect(r, 0,
               drail_set_waiting(r->t, serial ? DRAIL_WAITING_SERIAL
                                              : DRAIL_WAITING_ANY));
        batch(r, &m, n);
        if (serial)
            check(returns == 0);
        else
            check(returns > 0);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(m.mem));
}

static void requests(struct rank *r)
{
    struct memory m;
    memory_open(r, &m);
    drail_xfer_t x = {.local = m.bytes,
                      .local_mem = m.mem,
                      .remote = &m.keys[r->peer],
                      .bytes = 4096};
    for (unsigned n = 0; n < 3; n++) {
        drail_req_t req;
        uint32_t id;
        expect(r, 0, drail_put(r->t, r->peer, &x, DRAIL_NOTIFY, n, &req));
        forget_waits();
        expect(r, 0, drail_wait(r->t, &req, -1));
        check(nwaited > 0 && returns == 0);
        forget_waits();
        expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
        check(id == n && returns == 0);
    }
    barrier(r);
    expect(r, 0, drail_mem_release(m.mem));
}

/* Rank 0 notifies rank 1, which sleeps by then. */
static void notify_sleeper(struct rank *r, unsigned rail, uint32_t n)
{
    uint32_t id;
    const unsigned before = *sleeps;
    counts_sleeps = r->rank == 1;
    barrier_outside(r);
    forget_waits();
    if (r->rank == 0) {
        check_within(60, *sleeps > before);
        expect(r, 0, drail_notify(r->t, r->peer, DRAIL_ON_RAIL(rail), n));
    } else {
        expect(r, 0, drail_notify_wait(r->t, r->peer, &id, -1));
    }
}

/* Polls before rank 1 sleeps until a notification arrives over one of so many
 * rails, as the two before did. */
static unsigned polls_before_sleep(struct rank *r, unsigned nrails)
{
    for (unsigned n = 0; n < 3; n++)
        notify_sleeper(r, 1 + n % nrails, n);
    return polls;
}

/* A wait that does not poll yields after each poll. */
static void polling(struct rank *r)
{
    const unsigned all = drail_nrails(r->t);
    check(drail_set_polling(r->t, DRAIL_POLLING_OFF) == DRAIL_POLLING_ON);
    unsigned off = polls_before_sleep(r, 1), after_off = yields;
    drail_set_polling(r->t, DRAIL_POLLING_YIELDING);
    unsigned one = polls_before_sleep(r, 1), after_one = yields;
    unsigned several = polls_before_sleep(r, 2), after_several = yields;
    check(drail_set_polling(r->t, DRAIL_POLLING_ON) == DRAIL_POLLING_YIELDING);
    unsigned keen = polls_before_sleep(r, 1), after_keen = yields;
    if (r->rank == 1)
        check(off <= all && !after_off && after_one > 0 &&
              one <= after_one + all && after_several > 0 && several >= all &&
              several <= (after_several + 1) * all &&
              keen > 4 * after_keen + 4);
    barrier(r);
}

/* A program that does not yield has the core: the next waits do not yield. */
static void long_yields(struct rank *r)
{
    drail_set_polling(r->t, DRAIL_POLLING_YIELDING);
    away_us = 2000;
    polls_before_sleep(r, 1);
    unsigned first = yields;
    polls_before_sleep(r, 1);
    if (r->rank == 1)
        check(first == 0 && yields == 0 && nwaited > 0);
    away_us = 0;
    barrier(r);
}

/* A rank that does not poll must not sleep on one rail for long if the other
 * one has been used lately, though not for the last two notifications. */
static void rails_in_turn(struct rank *r)
{
    static const unsigned order[] = {2, 1, 1, 1};
    drail_set_polling(r->t, DRAIL_POLLING_OFF);
    for (unsigned n = 0; n < sizeof order / sizeof *order; n++)
        notify_sleeper(r, order[n], n);
    if (r->rank == 1)
        check(nwaited > 1 && polls >= drail_nrails(r->t));
    barrier(r);
}

static void unknown(struct rank *r)
{
    expect(r, DRAIL_EINVAL, drail_set_waiting(r->t, (drail_waiting_t)7));
}

static void three(drail_config_t *cfg)
{
    use_rails(cfg, "far0", "far1", "far2");
    cfg->engine = DRAIL_ENGINE_NONTHREADED;
    cfg->stripe_threshold = 0;
}

/* The rails of short messages are the caller's choice. */
static void three_chosen(drail_config_t *cfg)
{
    three(cfg);
    cfg->stripe_threshold = 4096;
}

static void three_serial(drail_config_t *cfg)
{
    setenv("DRAIL_WAIT", "serial", 1);
    drail_config_init(cfg);
    three(cfg);
}

static const struct test tests[] = {
    {"batches", 2, batches, three, 0},
    {"requests, by the setting", 2, requests, three_serial, 0},
    {"polling", 2, polling, three_chosen, 0},
    {"long yields", 2, long_yields, three_chosen, 0},
    {"rails in turn", 2, rails_in_turn, three_chosen, 0},
    {"unknown", 2, unknown, NULL, 0},
};

/* on a busy machine all may have come before it is waited for */
RUN_TESTS_AFTER((conf_restart(argv, rails),
                 sleeps = shared_memory(sizeof *sleeps)),
                3, tests)
