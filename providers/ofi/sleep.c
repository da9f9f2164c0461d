/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Consumers that sleep. One of those that wait for connections watches the CQ
 * itself, so that an event wakes it directly and not through the thread. Each
 * of the others sleeps on a futex, and so does a consumer that waits for other
 * events, which do not come from the CQ.
 */
#include <poll.h>
#include <sys/eventfd.h>

#include "ofi.h"
#include "providers/core/futex.h"

#define BLOCKED_NS 1000000u /* naps while reading does not empty the CQ */
/* Wakes in a row by an empty CQ: long messages arrive in many pieces. Then the
 * watcher naps, too, but not for long. */
#define IN_VAIN     1000
#define VAIN_NAP_NS 50000u

enum { RUNG, ARMED, WATCHES }; /* states of a bell */

static _Atomic uint32_t *bell_of(struct ofi_ia *oia, uint64_t bell)
{
    return &oia->bell[__builtin_ctzll(bell)];
}

void ofi_arm(struct core_ia *ia, uint64_t bell)
{
    atomic_store(bell_of(ofi_ia(ia), bell), ARMED);
}

/* ------------------------------------------------------------ the watch --- */

/* Ends the watch: sleepers on futexes, and a thread that has left the CQ to
 * this watcher, must know. */
static void watch_ends(void *arg)
{
    struct ofi_ia *oia = arg;
    atomic_store(&oia->watched, false);
    bool alone = !atomic_load(&oia->sleepers);
    if (alone ? atomic_exchange(&oia->rests, false)
              : atomic_exchange(&oia->away, false))
        ofi_thread_wake(oia);
}

/* The thread can be cancelled only here. */
static int watch_ns(struct ofi_ia *oia, bool cq, uint64_t ns, int cancel_state)
{
    struct pollfd fds[] = {{.fd = cq ? oia->cq_fd : -1, .events = POLLIN},
                           {.fd = oia->nudge_fd, .events = POLLIN}};
    struct timespec t = core_timespec(ns);
    uint64_t count;
    core_cancel_as(cancel_state);
    int n = ppoll(fds, 2, ns == UINT64_MAX ? NULL : &t, NULL);
    int err = n < 0 && errno == EINTR ? EINTR : 0;
    core_cancel_off();
    if (n > 0 && fds[1].revents)
        (void)!read(oia->nudge_fd, &count, sizeof count);
    if (cq)
        oia->in_vain = n > 0 && fds[0].revents ? oia->in_vain + 1 : 0;
    return err;
}

/* May it watch now? If not, it naps, and then it may once more. */
static bool is_quiet(struct ofi_ia *oia)
{
    if (oia->in_vain < IN_VAIN)
        return true;
    oia->in_vain = IN_VAIN - 1;
    return false;
}

/* The completions that it has read may be its own, and its time may be over:
 * the caller looks again before it watches on. */
static int watch(struct ofi_ia *oia, _Atomic uint32_t *bell, uint64_t ns,
                 int cancel_state)
{
    uint32_t armed = ARMED;
    bool any, empty = ofi_look(oia, &any);
    if (any)
        oia->in_vain = 0;
    if (any && !empty)
        return 0;
    bool quiet = is_quiet(oia);
    uint64_t most = !empty ? BLOCKED_NS : quiet ? UINT64_MAX : VAIN_NAP_NS;
    if (!atomic_compare_exchange_strong(bell, &armed, WATCHES))
        return 0;
    return watch_ns(oia, empty && quiet, ns < most ? ns : most, cancel_state);
}

/* ------------------------------------------------------------- sleeping --- */

static void sleep_ends(void *arg)
{
    struct ofi_ia *oia = arg;
    atomic_fetch_sub(&oia->sleepers, 1);
}

/* The thread can be cancelled only here. */
static int sleep_on(_Atomic uint32_t *bell, uint64_t ns, int cancel_state)
{
    core_cancel_as(cancel_state);
    int err = core_futex_wait(bell, false, ARMED, ns);
    core_cancel_off();
    return err;
}

/* Perhaps no consumer polls from now on: the thread must. */
static void call_thread(struct ofi_ia *oia)
{
    if (!atomic_load(&oia->watched) && atomic_exchange(&oia->away, false))
        ofi_thread_wake(oia);
}

int ofi_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns)
{
    struct ofi_ia *oia = ofi_ia(ia);
    _Atomic uint32_t *word = bell_of(oia, bell);
    int state = core_cancel_off(), err;
    if (fed && !atomic_exchange(&oia->watched, true)) {
        pthread_cleanup_push(watch_ends, oia);
        err = watch(oia, word, timeout_ns, state);
        pthread_cleanup_pop(1);
    } else if (fed) {
        atomic_fetch_add(&oia->sleepers, 1);
        pthread_cleanup_push(sleep_ends, oia);
        call_thread(oia);
        err = sleep_on(word, timeout_ns, state);
        pthread_cleanup_pop(1);
    } else {
        call_thread(oia);
        err = sleep_on(word, timeout_ns, state);
    }
    core_cancel_as(state);
    return err;
}

void ofi_nudge(struct ofi_ia *oia)
{
    int state = core_cancel_off();
    eventfd_write(oia->nudge_fd, 1);
    core_cancel_as(state);
}

void ofi_ring(struct core_ia *ia, uint64_t bells)
{
    struct ofi_ia *oia = ofi_ia(ia);
    for (; bells; bells &= bells - 1) {
        _Atomic uint32_t *bell = bell_of(oia, bells);
        if (!atomic_load_explicit(bell, memory_order_relaxed))
            continue;
        uint32_t was = atomic_exchange(bell, RUNG);
        if (was == WATCHES)
            ofi_nudge(oia);
        else if (was == ARMED)
            core_futex_wake(bell, false, 1);
    }
}
