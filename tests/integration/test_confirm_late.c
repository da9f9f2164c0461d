/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank whose provider has no time for its rails: its peer's provider gives up
 * the connections that were accepted there, asks for others when it can, and
 * both connect as if nothing had been. Where it has time for one rail, they do
 * not wait for the other. Stands in for libc's calls: the managers of rank 0
 * are held until those of rank 1, whose clock hurries, give up.
 */
#include <stdatomic.h>
#include <sys/epoll.h>
#include <sys/syscall.h>

#include "machine.h"
#include "no_direct.h"
#include "rails_up.h"
#include "ranks.h"
#include "tests/stand_in.h"

#define SECOND    1000000000ll
#define ENOUGH_NS (15 * SECOND) /* by which a peer is given up: 10 s */
#define RAILS     2u
#define ALL       3u /* as bits */
#define DAZED_MS  100

static const struct drail_platform *machine;
static atomic_int waits[RAILS]; /* epoll sets of the managers, from 1 on */
/* Of rank 0. */
static atomic_uint held, holds; /* of these, bits */
static atomic_uint dazed;       /* were, and confirm the next one late */
static unsigned rejected;
/* Of rank 1: its sleeps pass at once, on the clock only. */
static atomic_bool hurries;
static atomic_llong ahead_ns;
static DAT_EVD_HANDLE conn_evds[RAILS];
static unsigned requests, accepted;
static bool hides;      /* the fate of the request that is not confirmed */
static bool keeps_time; /* rank 1, whose clock does not hurry */

STAND_IN int clock_gettime(clockid_t id, struct timespec *t)
{
    int rc = (int)syscall(SYS_clock_gettime, id, t);
    if (rc || id != CLOCK_MONOTONIC)
        return rc;
    long long ns = t->tv_nsec + ahead_ns;
    t->tv_sec += ns / SECOND;
    t->tv_nsec = ns % SECOND;
    return 0;
}

static void sleep_until(const struct drail_platform *p, uint64_t ns)
{
    machine->sleep_until(machine, ns - (uint64_t)ahead_ns);
}

static int wait_ms(int fd, struct epoll_event *events, int max, int ms)
{
    return (int)syscall(SYS_epoll_pwait, fd, events, max, ms, NULL, 8);
}

/* As a bit; RAILS: of another thread. */
static unsigned meet_manager(int fd)
{
    unsigned i = 0;
    for (; i < RAILS && waits[i] != fd + 1; i++) {
        int nobody = 0;
        if (atomic_compare_exchange_strong(&waits[i], &nobody, fd + 1))
            break;
    }
    return i;
}

/* Until one side has ended a connection. */
static int wait_held(int fd, unsigned bit, struct epoll_event *events, int max)
{
    int n = 0;
    holds |= bit;
    for (double end = seconds() + 60; held & bit; nap(1)) {
        n = wait_ms(fd, events, max, 0);
        for (int i = 0; i < n; i++)
            if (events[i].events & EPOLLHUP)
                held &= ~bit;
        check(seconds() < end);
    }
    dazed |= bit;
    return n;
}

STAND_IN int epoll_wait(int fd, struct epoll_event *events, int max, int ms)
{
    unsigned bit = 1u << meet_manager(fd);
    int n;
    if (atomic_fetch_and(&dazed, ~bit) & bit)
        nap(DAZED_MS);
    do {
        n = wait_ms(fd, events, max, ms ? 1 : 0);
        if (held & bit)
            return wait_held(fd, bit, events, max);
        if (!n && hurries && ms > 0 && ahead_ns < ENOUGH_NS) {
            ahead_ns += ms * SECOND / 1000;
            return 0;
        }
        ms -= ms > 0;
    } while (!n && ms);
    return n;
}

/* Where rank 0 gives a connection up itself, its manager hears of no end. */
STAND_IN int epoll_ctl(int fd, int op, int of, struct epoll_event *event)
{
    for (unsigned i = 0; i < RAILS; i++)
        if (op == EPOLL_CTL_DEL && waits[i] == fd + 1)
            held &= ~(1u << i);
    return (int)syscall(SYS_epoll_ctl, fd, op, of, event);
}

STAND_IN DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr, DAT_EP_HANDLE ep,
                                  DAT_COUNT bytes, const DAT_PVOID data)
{
    DAT_EP_PARAM param;
    check(!dat_ep_query(ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &param));
    conn_evds[accepted++ % RAILS] = param.connect_evd_handle;
    if (accepted == RAILS) /* confirmations are waited for */
        hurries = !keeps_time;
    return real(dat_cr_accept)(cr, ep, bytes, data);
}

static bool is_hidden(DAT_EVD_HANDLE evd)
{
    return hides && hurries && (evd == conn_evds[0] || evd == conn_evds[1]);
}

STAND_IN DAT_RETURN dat_evd_dequeue(DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
    if (is_hidden(evd))
        return (DAT_RETURN)DAT_CLASS_ERROR | DAT_QUEUE_EMPTY;
    DAT_RETURN status = real(dat_evd_dequeue)(evd, event);
    if (status != DAT_SUCCESS)
        return status;
    requests += event->event_number == DAT_CONNECTION_REQUEST_EVENT;
    rejected += event->event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED;
    if (hurries)
        hurries = requests <= RAILS;
    return status;
}

/* These managers, which have come to nothing any more when this returns. */
static void hold(unsigned which)
{
    double end = seconds() + 20;
    for (; !waits[RAILS - 1]; nap(1))
        check(seconds() < end);
    for (held = which; holds != which; nap(1))
        check(seconds() < end);
}

static void connect_late(struct rank *r, unsigned held_up)
{
    if (r->rank == 0)
        hold(held_up);
    barrier_outside(r);
    double begin = seconds();
    expect(r, 0, drail_connect(r->t, r->peer));
    expect(r, 0, drail_notify(r->t, r->peer, 0, 0));
    expect(r, 0, drail_notify_wait(r->t, r->peer, NULL, -1));
    await_rails_up(r);
    check(r->rank ? accepted > RAILS : !accepted);
    /* what the peer has accepted again, it does not let go of but late */
    check(held_up != ALL || !rejected || seconds() - begin > 1);
}

static void all_late(struct rank *r)
{
    connect_late(r, ALL);
}

static void one_late(struct rank *r)
{
    connect_late(r, 2);
}

/* Both give it up at about the same time. */
static void one_later(struct rank *r)
{
    keeps_time = true;
    connect_late(r, 2);
}

/* The next request is seen before the end of the one before. */
static void asked_first(struct rank *r)
{
    hides = true;
    connect_late(r, ALL);
}

static void patient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 120000;
}

static const struct test tests[] = {
    {"told, then asked again", 2, all_late, patient, APART},
    {"asked again, then told", 2, asked_first, patient, APART},
    {"one of the rails", 2, one_late, patient, APART},
    {"one of the rails, in real time", 2, one_later, patient, APART},
};

int main(int argc, char **argv)
{
    machine = machine_platform();
    check(machine);
    struct drail_platform platform = *machine;
    platform.sleep_until = sleep_until;
    ranks_platform = &platform;
    return run_tests(tests, sizeof tests / sizeof tests[0], 1, argc, argv);
}
