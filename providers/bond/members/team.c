/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The team: with the engine `threaded`, one thread for each member posts at the
 * same time; the caller is one of them. The threads take the parts of a work
 * one by one. So the caller never waits for a thread that has no core yet: it
 * takes that thread's part itself.
 */
#include <limits.h>

#include "dapl_rail/platform/busywait.h"
#include "providers/bond/members/members.h"
#include "providers/core/futex.h"
#include "providers/core/thread.h"

#define SPIN_NS 20000u /* before a thread sleeps */

/* ----------------------------------------------------------------- work --- */

/* Takes a part. That orders the thread after the caller's stores: they precede
 * its store to `waiting`. */
static bool take(struct bond_team *t, uint32_t *part)
{
    uint32_t waiting = atomic_load(&t->waiting);
    while (waiting)
        if (atomic_compare_exchange_weak(&t->waiting, &waiting, waiting - 1)) {
            *part = waiting - 1;
            return true;
        }
    return false;
}

static void do_parts(struct bond_team *t)
{
    uint32_t part;
    while (take(t, &part)) {
        t->run(t->arg, part);
        if (atomic_fetch_sub(&t->unfinished, 1) == 1 && atomic_load(&t->joiner))
            core_futex_wake(&t->unfinished, false, 1);
    }
}

static void join(struct bond_team *t)
{
    uint64_t begin = busywait_now_ns();
    uint32_t unfinished;
    while (atomic_load(&t->unfinished)) {
        busywait_relax();
        if (busywait_now_ns() - begin > SPIN_NS)
            atomic_store(&t->joiner, true);
        if (atomic_load(&t->joiner) &&
            (unfinished = atomic_load(&t->unfinished)))
            core_futex_wait(&t->unfinished, false, unfinished, UINT64_MAX);
    }
    atomic_store(&t->joiner, false);
}

void bond_team_run(struct bond_ia *b, unsigned parts,
                   void (*run)(void *arg, unsigned part), void *arg)
{
    struct bond_team *t = &b->team;
    t->run = run;
    t->arg = arg;
    atomic_store(&t->unfinished, parts);
    atomic_store(&t->waiting, parts);
    atomic_fetch_add(&t->begun, 1);
    if (parts > 1 && atomic_load(&t->sleepers))
        core_futex_wake(&t->begun, false, (int)parts - 1);
    do_parts(t);
    join(t);
}

/* -------------------------------------------------------------- threads --- */

/* Waits for the next work after those before it. */
static void await_work(struct bond_team *t, uint32_t before, uint64_t *spin_ns)
{
    uint64_t begin = busywait_now_ns(), spun;
    do {
        if (atomic_load(&t->begun) != before)
            goto out;
        busywait_relax();
        spun = busywait_now_ns() - begin;
    } while (spun < *spin_ns);
    atomic_fetch_add(&t->sleepers, 1);
    core_futex_wait(&t->begun, false, before, UINT64_MAX);
    atomic_fetch_sub(&t->sleepers, 1);
out:
    *spin_ns =
        busywait_limit_after(*spin_ns, SPIN_NS, busywait_now_ns() - begin);
}

static void *team_main(void *ia)
{
    struct bond_ia *b = ia;
    uint64_t spin_ns = SPIN_NS;
    for (;;) {
        uint32_t before = atomic_load(&b->team.begun);
        do_parts(&b->team);
        if (atomic_load(&b->stop))
            return NULL;
        await_work(&b->team, before, &spin_ns);
    }
}

int bond_team_start(struct bond_ia *b)
{
    struct bond_team *t = &b->team;
    for (; t->threads + 1 < b->params.count; t->threads++)
        if (core_thread_create(&t->thread[t->threads], NULL, team_main, b))
            return -1;
    return 0;
}

void bond_team_stop(struct bond_ia *b)
{
    struct bond_team *t = &b->team;
    atomic_fetch_add(&t->begun, 1); /* b->stop is set */
    core_futex_wake(&t->begun, false, INT_MAX);
    for (; t->threads; t->threads--)
        pthread_join(t->thread[t->threads - 1], NULL);
}
