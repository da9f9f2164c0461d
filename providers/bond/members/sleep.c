/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Consumers that sleep: each consumer sleeps on a futex, its bell. Meanwhile
 * the watcher thread of each member waits in the member's CNO. When the member
 * has events, the watcher rings all bells. If consumers do not execute the
 * peers' atomics, the watcher does.
 */
#include "providers/bond/members/members.h"
#include "providers/core/futex.h"

enum { RUNG, ARMED };
enum { RESTS, WATCHES, ENDS }; /* bond_member.watch */

static _Atomic uint32_t *bell_of(struct bond_ia *b, uint64_t bell)
{
    return &b->bell[__builtin_ctzll(bell)];
}

/* ---------------------------------------------------------- the watcher --- */

static void begin_watch(struct bond_member *m)
{
    uint32_t rests = RESTS;
    if (atomic_compare_exchange_strong(&m->watch, &rests, WATCHES))
        core_futex_wake(&m->watch, false, 1);
}

void bond_watch_begin(struct bond_ia *b)
{
    for (unsigned i = 0; i < b->params.count; i++)
        begin_watch(&b->member[i]);
}

/* The watcher rests before it rings: a consumer that it wakes, and that sleeps
 * again, sets it to watch again. */
void *bond_watch(void *member)
{
    struct bond_member *m = member;
    uint32_t watches = WATCHES;
    DAT_EVD_HANDLE evd;
    for (uint32_t state; (state = atomic_load(&m->watch)) != ENDS;) {
        if (state == RESTS) {
            core_futex_wait(&m->watch, false, RESTS, UINT64_MAX);
            continue;
        }
        if (dat_cno_wait(m->cno, DAT_TIMEOUT_INFINITE, &evd) != DAT_SUCCESS)
            continue;
        atomic_compare_exchange_strong(&m->watch, &watches, RESTS);
        watches = WATCHES;
        bond_ring(m->b->ia, UINT64_MAX);
        if (atomic_load(&m->b->serves))
            m->b->serve(m->b);
    }
    return NULL;
}

void bond_watch_end(struct bond_member *m)
{
    atomic_store(&m->watch, ENDS);
    core_futex_wake(&m->watch, false, 1);
}

/* ------------------------------------------------------------- sleeping --- */

void bond_arm(struct core_ia *ia, uint64_t bell)
{
    struct bond_ia *b = bond_ia(ia);
    atomic_store(bell_of(b, bell), ARMED);
}

/* The watcher may begin its wait after the consumer's last poll: the CNO also
 * reports events from before the wait. */
int bond_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns)
{
    struct bond_ia *b = bond_ia(ia);
    int state = core_cancel_off();
    if (fed)
        bond_watch_begin(b);
    core_cancel_as(state);
    return core_futex_wait(bell_of(b, bell), false, ARMED, timeout_ns);
}

void bond_ring(struct core_ia *ia, uint64_t bells)
{
    struct bond_ia *b = bond_ia(ia);
    for (; bells; bells &= bells - 1) {
        _Atomic uint32_t *bell = bell_of(b, bells);
        if (atomic_load_explicit(bell, memory_order_relaxed) &&
            atomic_exchange(bell, RUNG) == ARMED)
            core_futex_wake(bell, false, 1);
    }
}
