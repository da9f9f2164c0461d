/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each member has two threads, because a thread can wait for the events of one
 * IA only. The first thread handles connection events (loop.c). The second one,
 * the watcher, wakes consumers (sleep.c).
 */
#include <signal.h>

#include "bond.h"

static int start(struct bond_member *m)
{
    if (m->threads == 0) {
        if (pthread_create(&m->thread, NULL, m->b->thread_main, m))
            return -1;
        m->threads = 1;
    }
    if (m->threads == 1) {
        if (pthread_create(&m->watcher, NULL, bond_watch, m))
            return -1;
        m->threads = 2;
    }
    return 0;
}

int bond_threads_start(struct bond_ia *b)
{
    sigset_t all, old;
    int err = 0;
    sigfillset(&all); /* the consumer's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (unsigned i = 0; i < b->params.count && !err; i++)
        err = start(&b->member[i]);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err;
}

void bond_threads_stop(struct bond_ia *b)
{
    atomic_store(&b->stop, true);
    for (unsigned i = 0; i < b->params.count; i++) {
        struct bond_member *m = &b->member[i];
        if (m->threads > 0) {
            bond_evd_wake(m->conn);
            pthread_join(m->thread, NULL);
        }
        if (m->threads > 1) {
            bond_watch_end(m);
            bond_evd_wake(m->dto);
            pthread_join(m->watcher, NULL);
        }
        m->threads = 0;
    }
}
