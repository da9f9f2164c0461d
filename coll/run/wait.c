/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for requests: how long to poll, when to sleep, when to give up. */
#include <sched.h>

#include "coll/run/clock.h"
#include "coll/run/executor.h"
#include "coll/run/flags.h"
#include "coll/run/notes.h"
#include "coll/run/wait.h"

#define POLLS_BEFORE_YIELD    64u  /* to threads of rails */
#define POLLS_BEFORE_PROGRESS 256u /* of a flag, before a look at the rails */
#define SLEEP_AFTER_NS        2000000ull /* of waiting in vain */
#define SLEEP_MIN_MS          1 /* looks at the rails and other requests */
#define SLEEP_MAX_MS          16
#define CHECK_AFTER_NS        50000000ull /* looks at the others' ledgers */

static inline void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* A part of what it has waited for, which is what it may cost others. */
static int slice_ms(uint64_t waited_ns)
{
    uint64_t ms = waited_ns / 8000000u;
    return ms < SLEEP_MIN_MS   ? SLEEP_MIN_MS
           : ms > SLEEP_MAX_MS ? SLEEP_MAX_MS
                               : (int)ms;
}

/* Sleeps a slice, or until what the request waits for comes. */
static int sleep_slice(dcoll_request_t *q, int ms)
{
    dcoll_team_t *team = q->team;
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    if (op->kind == DCOLL_WAIT) {
        int rc = notes_take(team, op->peer, ms);
        return rc == DRAIL_ETIMEOUT || rc == DRAIL_EAGAIN ? 0 : rc;
    }
    if (op->kind == DCOLL_COMPLETE) {
        int rc = drail_wait(team->rail, &q->reqs[q->completed], ms);
        return rc == DRAIL_ETIMEOUT || rc == DRAIL_EAGAIN
                   ? 0
                   : (rc ? team_rail_fail(team, rc) : 0);
    }
    flag_sleep(q, op, ms);
    return 0;
}

static int progress_others(dcoll_request_t *q)
{
    dcoll_request_t *next;
    for (dcoll_request_t *r = TAILQ_FIRST(&q->team->active); r; r = next) {
        next = TAILQ_NEXT(r, active_one);
        int rc = r != q ? request_advance(r) : 0;
        if (rc && rc != DRAIL_EAGAIN)
            return rc;
    }
    return 0;
}

/* How long it has not moved, as far as somebody looked. */
static uint64_t stands_for(dcoll_request_t *q, uint64_t now)
{
    if (!q->waiting_ns)
        q->waiting_ns = now;
    return now - q->waiting_ns;
}

/* After a while of waiting: is it in vain? */
static int check_peer(dcoll_request_t *q, uint64_t now)
{
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    if (stands_for(q, now) < CHECK_AFTER_NS ||
        now - q->looked_ns < CHECK_AFTER_NS)
        return 0;
    q->looked_ns = now;
    return op->kind == DCOLL_WAIT || op->kind == DCOLL_AWAIT
               ? ledger_check(q->team, op->peer)
               : 0;
}

static int fail_timeout(dcoll_request_t *q, int timeout_ms)
{
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    const char *name = dcoll_collective_name(q->args.collective);
    return op->kind == DCOLL_COMPLETE
               ? team_fail(q->team, DRAIL_ETIMEOUT,
                           "%s: transfers are not complete within %d ms", name,
                           timeout_ms)
               : team_fail(q->team, DRAIL_ETIMEOUT,
                           "%s: no answer of rank %u within %d ms", name,
                           op->peer, timeout_ms);
}

/* What we wait for may need this very core: a rank, or our rails' threads. */
static bool needs_core(const dcoll_team_t *team, unsigned polls)
{
    return team->crowded ||
           (polls > POLLS_BEFORE_YIELD &&
            drail_config_of(team->rail)->engine == DRAIL_ENGINE_THREADED);
}

struct patience { /* of one wait for a request */
    int timeout_ms;
    unsigned polls;
    uint64_t since_ns; /* 0: it is too early to look at the clock */
};

/* Between two polls. Once it has slept, a wait goes on asleep: ranks that only
 * yield to one another can keep kernel threads from a core for seconds. */
static int relax(dcoll_request_t *q, struct patience *p)
{
    dcoll_team_t *team = q->team;
    p->polls++;
    if (!q->asleep) {
        if (needs_core(team, p->polls))
            sched_yield();
        else
            cpu_relax();
        if (p->polls % POLLS_BEFORE_PROGRESS)
            return 0;
    }
    int rc = team_progress(team);
    if (!rc)
        rc = progress_others(q);
    if (rc)
        return rc;
    uint64_t now = now_ns();
    if (!p->since_ns)
        p->since_ns = now;
    uint64_t waited = stands_for(q, now);
    if (waited < SLEEP_AFTER_NS)
        return 0;
    q->asleep = true;
    rc = check_peer(q, now);
    /* it may have stood still before this wait, too, when it was tested */
    uint64_t since = p->since_ns > q->waiting_ns ? p->since_ns : q->waiting_ns;
    if (!rc && now - since >= (uint64_t)p->timeout_ms * 1000000u)
        rc = fail_timeout(q, p->timeout_ms);
    return rc ? rc : sleep_slice(q, slice_ms(waited));
}

int request_poll(dcoll_request_t *q)
{
    int rc = request_advance(q);
    if (rc != DRAIL_EAGAIN)
        return rc;
    rc = team_progress(q->team);
    if (!rc)
        rc = progress_others(q);
    if (!rc)
        rc = request_advance(q);
    if (rc != DRAIL_EAGAIN || ++q->polls % POLLS_BEFORE_PROGRESS)
        return rc;
    int vain = check_peer(q, now_ns());
    return vain ? vain : DRAIL_EAGAIN;
}

int request_finish(dcoll_request_t *q, int timeout_ms)
{
    struct patience patience = {.timeout_ms = timeout_ms};
    int rc;
    while ((rc = request_advance(q)) == DRAIL_EAGAIN) {
        rc = relax(q, &patience);
        if (rc)
            break;
    }
    return rc;
}
