/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other ranks may wait for this rank's part of a call that is under way, while
 * the program computes, or waits in the MPI below. So a thread makes progress
 * then. It never calls MPI, which need not support threads.
 *
 * If a rail is lost, this rank may have to send data of a call again that has
 * already returned. So the thread also looks after teams over several rails as
 * long as there are any, but seldom.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "mpi/requests/requests.h"

#define NAP_NS   500000   /* between two looks while calls are under way, … */
#define STAYS    200      /* … and for so many naps after the last call */
#define GUARD_NS 20000000 /* between two looks at guarded teams */

static struct {
    pthread_mutex_t lock;
    pthread_cond_t wake;
    pthread_t thread;
    bool runs, stops, sleeps;
    atomic_uint under_way, guarded;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static _Thread_local bool is_self;

bool progress_thread_is_self(void)
{
    return is_self;
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

/* Until a call is under way, or it is time to look at guarded teams. */
static void sleep_until_needed(void)
{
    const struct timespec until = next_guard();
    int rc = 0;
    pthread_mutex_lock(&progress.lock);
    progress.sleeps = true;
    while (!progress.stops && !atomic_load(&progress.under_way) &&
           rc != ETIMEDOUT)
        rc =
            atomic_load(&progress.guarded)
                ? pthread_cond_timedwait(&progress.wake, &progress.lock, &until)
                : pthread_cond_wait(&progress.wake, &progress.lock);
    progress.sleeps = false;
    pthread_mutex_unlock(&progress.lock);
}

static bool is_stopped(void)
{
    pthread_mutex_lock(&progress.lock);
    bool stops = progress.stops;
    pthread_mutex_unlock(&progress.lock);
    return stops;
}

static void *run(void *none)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    unsigned idle = 0;
    is_self = true;
    while (!is_stopped()) {
        if (idle < STAYS)
            nanosleep(&nap, NULL);
        else
            sleep_until_needed();
        if (atomic_load(&progress.under_way))
            idle = 0;
        else if (idle < STAYS)
            idle++;
        if (idle == 0 || idle == STAYS)
            queues_advance();
    }
    return none;
}

/* It blocks all signals, which are the program's. False: without the thread
 * there is no progress while the program computes. */
static bool start(void)
{
    sigset_t all, before;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.wake, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = !pthread_create(&progress.thread, NULL, run, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

static void wake(void)
{
    pthread_mutex_lock(&progress.lock);
    if (!progress.runs)
        progress.runs = start();
    if (progress.sleeps)
        pthread_cond_signal(&progress.wake);
    pthread_mutex_unlock(&progress.lock);
}

void progress_thread_add_call(void)
{
    atomic_fetch_add(&progress.under_way, 1);
    wake();
}

void progress_thread_add_guarded(void)
{
    atomic_fetch_add(&progress.guarded, 1);
    wake();
}

void progress_thread_end_guarded(void)
{
    atomic_fetch_sub(&progress.guarded, 1);
}

void progress_thread_end_call(void)
{
    atomic_fetch_sub(&progress.under_way, 1);
}

void progress_thread_stop(void)
{
    pthread_mutex_lock(&progress.lock);
    bool ran = progress.runs;
    progress.stops = true;
    if (ran)
        pthread_cond_signal(&progress.wake);
    pthread_mutex_unlock(&progress.lock);
    if (ran)
        pthread_join(progress.thread, NULL);
    progress.runs = false;
}
