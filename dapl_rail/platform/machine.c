/* SPDX-License-Identifier: BSD-3-Clause */
/* The real platform: Linux's clocks and futexes, OpenMP's threads. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "dapl_rail/platform/busywait.h"
#include "dapl_rail/platform/long_copy.h"
#include "dapl_rail/platform/platform.h"

#define SECOND 1000000000ull

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND),
                             .tv_nsec = (long)(ns % SECOND)};
}

static uint64_t machine_now_ns(const struct drail_platform *p)
{
    (void)p;
    return busywait_now_ns();
}

static uint64_t machine_cpu_ns(const struct drail_platform *p)
{
    (void)p;
    return busywait_clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void machine_sleep_until(const struct drail_platform *p, uint64_t ns)
{
    struct timespec at = timespec_of(ns);
    (void)p;
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}

static void machine_wait(const struct drail_platform *p, _Atomic uint32_t *flag,
                         uint32_t value, uint64_t until_ns, bool shared)
{
    struct timespec at = timespec_of(until_ns);
    (void)p;
    /* the variant whose timeout is a time of CLOCK_MONOTONIC */
    syscall(SYS_futex, flag,
            FUTEX_WAIT_BITSET | (shared ? 0 : FUTEX_PRIVATE_FLAG), value,
            until_ns == PLATFORM_FOREVER ? NULL : &at, NULL,
            FUTEX_BITSET_MATCH_ANY);
}

static void machine_wake(const struct drail_platform *p, _Atomic uint32_t *flag,
                         bool shared)
{
    (void)p;
    syscall(SYS_futex, flag, FUTEX_WAKE | (shared ? 0 : FUTEX_PRIVATE_FLAG),
            INT_MAX, NULL, NULL, 0);
}

static void machine_yield(const struct drail_platform *p)
{
    (void)p;
    sched_yield();
}

static void machine_relax(const struct drail_platform *p)
{
    (void)p;
    busywait_relax();
}

static void machine_copy(const struct drail_platform *p, void *to,
                         const void *from, size_t bytes)
{
    (void)p;
    plain_copy(to, from, bytes);
}

/* ------------------------------------------------------------- threads */

/* Does nothing where OpenMP gives fewer threads than asked for: bodies may
 * wait for one another. */
static bool region_run(unsigned n, platform_body_t body, void *arg,
                       void (*begun)(void *arg, bool complete))
{
    bool complete = false;
#pragma omp parallel num_threads((int)n)
    {
        bool all = omp_get_num_threads() == (int)n;
        int index = omp_get_thread_num();
        if (index == 0) {
            complete = all;
            if (begun)
                begun(arg, all);
        }
        if (all)
            body(arg, (unsigned)index);
    }
    return complete;
}

static int machine_threads_run(const struct drail_platform *p, unsigned n,
                               platform_body_t body, void *arg)
{
    (void)p;
    return region_run(n, body, arg, NULL) ? 0 : DRAIL_ENOTSUP;
}

/* A helper thread, and the OpenMP region in it. */
struct platform_threads {
    pthread_t helper;
    pid_t process; /* that has them: not one that is forked later */
    unsigned n;
    platform_body_t body;
    void *arg;
    sem_t begun;
    bool complete;
};

static void threads_begun(void *arg, bool complete)
{
    struct platform_threads *threads = arg;
    threads->complete = complete;
    sem_post(&threads->begun);
}

/* Signals are for the caller's threads, but for those of what a thread itself
 * does: it may touch memory that a handler of faults brings. Not longer than
 * the body: OpenMP gives its threads to the caller's regions afterwards. */
static void threads_body(void *arg, unsigned index)
{
    struct platform_threads *threads = arg;
    sigset_t all, old;
    sigfillset(&all);
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    threads->body(threads->arg, index);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
}

static void *threads_main(void *arg)
{
    struct platform_threads *threads = arg;
    omp_set_dynamic(0);
    region_run(threads->n, threads_body, threads, threads_begun);
    return NULL;
}

static void machine_threads_join(const struct drail_platform *p,
                                 struct platform_threads *threads)
{
    (void)p;
    if (threads->process == getpid())
        pthread_join(threads->helper, NULL);
    sem_destroy(&threads->begun);
    free(threads);
}

static int machine_threads_start(const struct drail_platform *p, unsigned n,
                                 platform_body_t body, void *arg,
                                 struct platform_threads **out)
{
    struct platform_threads *threads = malloc(sizeof *threads);
    if (!threads)
        return DRAIL_ENOMEM;
    *threads = (struct platform_threads){
        .process = getpid(), .n = n, .body = body, .arg = arg};
    sem_init(&threads->begun, 0, 0);
    if (pthread_create(&threads->helper, NULL, threads_main, threads)) {
        sem_destroy(&threads->begun);
        free(threads);
        return DRAIL_ENOMEM;
    }
    while (sem_wait(&threads->begun) && errno == EINTR)
        ;
    if (!threads->complete) {
        machine_threads_join(p, threads);
        return DRAIL_ENOMEM;
    }
    *out = threads;
    return 0;
}

const struct drail_platform platform_machine = {
    .now_ns = machine_now_ns,
    .cpu_ns = machine_cpu_ns,
    .sleep_until = machine_sleep_until,
    .wait = machine_wait,
    .wake = machine_wake,
    .yield = machine_yield,
    .relax = machine_relax,
    .threads_start = machine_threads_start,
    .threads_join = machine_threads_join,
    .threads_run = machine_threads_run,
    .copy = machine_copy,
};
