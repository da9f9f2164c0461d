/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each member has two threads, because a thread can wait for the events of one
 * IA only. The first thread handles connection events (loop.c). The second one,
 * the watcher, wakes consumers (sleep.c). The threads that post are apart from
 * these (team.c).
 */
#include "providers/core/thread.h"

#include "providers/bond/members/members.h"

static int start(struct bond_member *m)
{
    if (m->threads == 0) {
        if (core_thread_create(&m->thread, NULL, m->b->thread_main, m))
            return -1;
        m->threads = 1;
    }
    if (m->threads == 1) {
        if (core_thread_create(&m->watcher, NULL, bond_watch, m))
            return -1;
        m->threads = 2;
    }
    return 0;
}

int bond_threads_start(struct bond_ia *b)
{
    for (unsigned i = 0; i < b->params.count; i++)
        if (start(&b->member[i]))
            return -1;
    return b->params.engine == BOND_THREADED ? bond_team_start(b) : 0;
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
    bond_team_stop(b);
}
