/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two threads for each member, because a thread can wait for the events of one
 * IA only. One takes the connection events (loop.c), the other wakes consumers
 * (sleep.c).
 */
#include <signal.h>

#include "bond.h"

int bond_threads_start(struct bond_ia *b)
{
    sigset_t all, old;
    int err = 0;
    sigfillset(&all); /* the consumer's signals are for its own threads */
    pthread_sigmask(SIG_SETMASK, &all, &old);
    for (unsigned i = 0; i < b->params.count && !err; i++) {
        struct bond_member *m = &b->member[i];
        if (!m->threads)
            err = pthread_create(&m->thread, NULL, b->thread_main, m);
        m->threads += !m->threads && !err;
        if (m->threads == 1 && !err)
            err = pthread_create(&m->watcher, NULL, bond_watch, m);
        m->threads += m->threads == 1 && !err;
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return err ? -1 : 0;
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
