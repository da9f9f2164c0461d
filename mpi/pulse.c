/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program computes, or waits in a call of the MPI below that knows nothing
 * of ours, while other ranks may wait for its part of a call that is under way.
 * A thread looks after it then, now and then. It calls libdcoll only, so MPI
 * need not serve several threads.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "requests.h"

#define NAP_NS 500000 /* of the thread, while calls are under way … */
#define STAYS  200    /* … and for so many of them behind the last */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool runs, ends, sleeps;
    atomic_uint under_way;
} pulse = {.lock = PTHREAD_MUTEX_INITIALIZER, .wake = PTHREAD_COND_INITIALIZER};

static _Thread_local bool here;

bool pulse_is_here(void)
{
    return here;
}

/* Nothing has been under way for a while: until something is. */
static void rest(void)
{
    pthread_mutex_lock(&pulse.lock);
    pulse.sleeps = true;
    while (!pulse.ends && !atomic_load(&pulse.under_way))
        pthread_cond_wait(&pulse.wake, &pulse.lock);
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
        nanosleep(&nap, NULL);
        idle = atomic_load(&pulse.under_way) ? 0 : idle + 1;
        if (idle >= STAYS)
            rest();
        if (idle == 0)
            requests_advance_all();
    }
    return none;
}

/* Signals are the program's. Without a thread there is no progress while the
 * program computes. */
static bool launch(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = !pthread_create(&pulse.thread, NULL, beat, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

void pulse_more(void)
{
    atomic_fetch_add(&pulse.under_way, 1);
    pthread_mutex_lock(&pulse.lock);
    if (!pulse.runs)
        pulse.runs = launch();
    if (pulse.sleeps)
        pthread_cond_signal(&pulse.wake);
    pthread_mutex_unlock(&pulse.lock);
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
    pthread_cond_signal(&pulse.wake);
    pthread_mutex_unlock(&pulse.lock);
    if (ran)
        pthread_join(pulse.thread, NULL);
    pulse.runs = false;
}
