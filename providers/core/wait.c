/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: poll for a moment, then give the core away between polls, then
 * sleep. The middle phase keeps a spinning process from starving the one it
 * waits for when there are more processes than cores; its length follows what
 * waiting on this IA has been like.
 */
#include <errno.h>
#include <time.h>

#include "internal.h"

#define PAUSE_NS     3000   /* a cache line's way, and a short handler */
#define YIELD_MAX_NS 300000 /* a few times what a sleep and a wake-up take */
#define YIELD_MIN_NS 1000
#define CLOCK_EVERY  16     /* polls per clock reading */
#define OVERSLEEP_NS 500000 /* poll rather than sleep when due this soon */

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* Polls until ready or `until`; `yields` selects the phase. */
static bool poll_until(bool (*ready)(void *), void *arg, uint64_t until,
                       bool yields)
{
    do {
        for (int i = 0; i < (yields ? 1 : CLOCK_EVERY); i++) {
            if (ready(arg))
                return true;
            if (yields)
                sched_yield();
            else
                cpu_relax();
        }
    } while (now_ns() < until);
    return false;
}

DAT_RETURN core_wait(struct core_ia *ia, bool (*ready)(void *), void *arg,
                     DAT_TIMEOUT timeout)
{
    if (ready(arg))
        return DAT_SUCCESS;
    if (!timeout)
        return CORE_ERROR(DAT_TIMEOUT_EXPIRED, 0);

    const struct core_transport *t = ia->transport;
    uint64_t start = now_ns();
    uint64_t end = timeout == DAT_TIMEOUT_INFINITE
                       ? UINT64_MAX
                       : start + (uint64_t)timeout * 1000;
    uint32_t patience =
        atomic_load_explicit(&ia->patience_ns, memory_order_relaxed);
    uint64_t until = start + PAUSE_NS;
    DAT_RETURN ret = DAT_SUCCESS;

    if (poll_until(ready, arg, until < end ? until : end, false))
        return DAT_SUCCESS;
    until += patience;
    if (patience && poll_until(ready, arg, until < end ? until : end, true))
        goto out;
    for (;;) {
        uint32_t armed = t->arm(ia);
        uint64_t seen = now_ns();
        /* After arming no wake-up is missed; everything is looked at, also
         * what another thread may be just leaving. */
        core_epset_progress(ia, &ia->eps, true);
        bool done = ready(arg);
        uint64_t due = core_epset_next_due(ia, &ia->eps, seen), now = now_ns();
        bool soon = due != UINT64_MAX && due < now + OVERSLEEP_NS;
        int err = 0;
        if (due != UINT64_MAX)
            due -= OVERSLEEP_NS;
        due = due < end ? due : end;
        if (!done && !soon && now < end)
            err = t->sleep(ia, armed, due == UINT64_MAX ? due : due - now);
        t->disarm(ia);
        if (done || ready(arg) ||
            (soon &&
             poll_until(ready, arg,
                        now + OVERSLEEP_NS < end ? now + OVERSLEEP_NS : end,
                        true)))
            break;
        if (err == EINTR) {
            ret = CORE_ERROR(DAT_INTERRUPTED_CALL, 0);
            break;
        }
        if (now >= end) {
            ret = CORE_ERROR(DAT_TIMEOUT_EXPIRED, 0);
            break;
        }
    }
out:
    /* one that was cut short was in vain, too */
    if (ret == DAT_SUCCESS && now_ns() - start < 2 * YIELD_MAX_NS)
        patience = YIELD_MAX_NS;
    else
        patience = patience / 2 >= YIELD_MIN_NS ? patience / 2 : 0;
    atomic_store_explicit(&ia->patience_ns, patience, memory_order_relaxed);
    return ret;
}
