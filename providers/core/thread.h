/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a provider, and a lock that other threads take to poll. */
#ifndef DAPL_CORE_THREAD_H
#define DAPL_CORE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* pthread_create of a thread that blocks all signals: the consumer's signals
 * are for its own threads. */
static inline int core_thread_create(pthread_t *thread,
                                     const pthread_attr_t *attr,
                                     void *(*run)(void *), void *arg)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int err = pthread_create(thread, attr, run, arg);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err;
}

#define CORE_SLICE_NS 100000u

/* Consumers that spin may occupy all cores. The calling thread needs one at
 * once, but only for a moment: Linux has such short slices from 6.12 on.
 * Another policy than the usual one stays: the user has given it. */
static inline void core_thread_short_slices(void)
{
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attr = {.size = sizeof attr,
              .policy = SCHED_OTHER,
              .nice = getpriority(PRIO_PROCESS, 0), /* of this thread */
              .runtime = CORE_SLICE_NS};
    if (sched_getscheduler(0) == SCHED_OTHER)
        syscall(SYS_sched_setattr, 0, &attr, 0);
}

/* For a thread that must have the lock; *wanted is the number of these. A mutex
 * is not fair: a thread that polls all the time would keep it. */
static inline void core_lock_wanted(pthread_mutex_t *lock, atomic_uint *wanted)
{
    atomic_fetch_add(wanted, 1);
    pthread_mutex_lock(lock);
    atomic_fetch_sub(wanted, 1);
}

/* For a thread that polls. False: another thread has the lock, or must have it.
 */
static inline bool core_lock_to_poll(pthread_mutex_t *lock, atomic_uint *wanted)
{
    return !atomic_load_explicit(wanted, memory_order_relaxed) &&
           !pthread_mutex_trylock(lock);
}

#endif
