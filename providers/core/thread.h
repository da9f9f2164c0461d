/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a provider. */
#ifndef DAPL_CORE_THREAD_H
#define DAPL_CORE_THREAD_H

#include <pthread.h>
#include <sched.h>
#include <signal.h>
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
 * once, but only for a moment: Linux has such short slices from 6.12 on. */
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
    syscall(SYS_sched_setattr, 0, &attr, 0);
}

#endif
