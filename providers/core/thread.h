/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads of a provider. */
#ifndef DAPL_CORE_THREAD_H
#define DAPL_CORE_THREAD_H

#include <pthread.h>
#include <signal.h>
#include <stddef.h>

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

#endif
