/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program computes, or waits in a call of the MPI below that knows nothing
 * of ours, while other ranks may wait for its part of a call that is under way.
 * A thread looks after it then, now and then. It calls libdcoll only, so MPI
 * need not serve several threads.
 *
 * A call may also have returned when what it sent is lost with a rail, and its
 * peers wait for that: as nobody knows before they do, the thread looks after
 * teams over several rails for as long as there are any, but seldom.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "mpi/requests/requests.h"

#define NAP_NS   500000   /* of the thread, while calls are under way … */
#define STAYS    200      /* … and for so many of them behind the last */
#define GUARD_NS 20000000 /* between its looks at teams over several rails */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool runs, ends, sleeps;
    atomic_uint under_way, guarded;
} pulse = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool here;

bool pulse_is_here(void)
{
    return here;
}

static struct timespec next_guard(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += GUARD_NS;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

/* Nothing has been under way for a while: until something is, or it is time to
 * look after rails. */
static void rest(void)
{
    const struct timespec until = next_guard();
    int rc = 0;
    pthread_mutex_lock(&pulse.lock);
    pulse.sleeps = true;
    while (!pulse.ends && !atomic_load(&pulse.under_way) && rc != ETIMEDOUT)
        rc = atomic_load(&pulse.guarded)
                 ? pthread_cond_timedwait(&pulse.wake, &pulse.lock, &until)
                 : pthread_cond_wait(&pulse.wake, &pulse.lock);
    pulse.sleeps = false;
    pthread_mutex_unlock(&pulse.lock);
}

static bool ends(void)
{
    pthread_mutex_lock(&pulse.lock);
    bool ends = pulse.ends;
    pthread_mutex_unlock(&pulse.lock);
    return ends;
}

static void *beat(void *none)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    unsigned idle = 0;
    here = true;
    while (!ends()) {
        if (idle < STAYS)
            nanosleep(&nap, NULL);
        else
            rest();
        if (atomic_load(&pulse.under_way))
            idle = 0;
        else if (idle < STAYS)
            idle++;
        if (idle == 0 || idle == STAYS)
            requests_advance_all();
    }
    return none;
}

/* Signals are the program's. Without a thread there is no progress while the
 * program computes. */
static bool launch(void)
{
    sigset_t all, before;
    pthread_condattr_t steady;
    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(&pulse.wake, &steady);
    pthread_condattr_destroy(&steady);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = !pthread_create(&pulse.thread, NULL, beat, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

static void wake(void)
{
    pthread_mutex_lock(&pulse.lock);
    if (!pulse.runs)
        pulse.runs = launch();
    if (pulse.sleeps)
        pthread_cond_signal(&pulse.wake);
    pthread_mutex_unlock(&pulse.lock);
}

void pulse_more(void)
{
    atomic_fetch_add(&pulse.under_way, 1);
    wake();
}

void pulse_guard(void)
{
    atomic_fetch_add(&pulse.guarded, 1);
    wake();
}

void pulse_unguard(void)
{
    atomic_fetch_sub(&pulse.guarded, 1);
}

void pulse_less(void)
{
    atomic_fetch_sub(&pulse.under_way, 1);
}

void pulse_end(void)
{
    pthread_mutex_lock(&pulse.lock);
    bool ran = pulse.runs;
    pulse.ends = true;
    if (ran)
        pthread_cond_signal(&pulse.wake);
    pthread_mutex_unlock(&pulse.lock);
    if (ran)
        pthread_join(pulse.thread, NULL);
    pulse.runs = false;
}
