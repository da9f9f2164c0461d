/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/run/execute/executor.h"
#include "coll/run/execute/flags.h"
#include "coll/run/execute/notifications.h"
#include "coll/run/execute/wait.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/platform/spin.h"

#define MS                    1000000ull
#define POLLS_AT_ONCE         16u    /* before anything else */
#define POLLS_ELSEWHERE       128u   /* some µs: what two switches may take */
#define POLLS_BEFORE_PROGRESS 256u   /* of a flag, before a look at the rails */
#define YIELD_AFTER_NS        50000u /* a yield then costs a percent of it */
#define SLEEP_AFTER_NS        (2 * MS) /* without that anything moves */
#define FAR_SLEEP_AFTER_NS    1000u    /* the same, between crowded hosts */
#define SLEEP_LEAST_NS        MS
#define YIELDING_BYTES        512u /* where other hosts' ranks share the core */
/* The same on a core that others want: a timer that ends before the kernel's
 * next tick costs more than the sleep. */
#define CROWDED_LEAST_NS (16 * MS)
#define SLEEP_MOST_NS    (16 * MS)
#define IDLE_MOST_NS     MS /* with cfg.idle: other software makes progress */
#define NAP_LEAST_NS                                                           \
    50000u /* for credit or queue room: they cause no wake-up */
#define NAP_MOST_NS    MS
#define CHECK_AFTER_NS (50 * MS) /* looks at the others' ledgers */

/* -------------------------------------------------------------- sleeping */

static int slept(dcoll_team_t *team, int rc)
{
    if (rc == DRAIL_ETIMEOUT || rc == DRAIL_EAGAIN)
        return 0;
    return rc ? team_rail_fail(team, rc) : 0;
}

static bool is_alone(const dcoll_request_t *q)
{
    return TAILQ_FIRST(&q->team->active) == q && !TAILQ_NEXT(q, active_one);
}

/* Does nothing need this rank meanwhile, neither another request nor a transfer
 * of this one? */
static bool may_sleep_long(const dcoll_request_t *q)
{
    return sleeps_at_once(q) && is_alone(q) && q->completed == q->transfers;
}

/* Sleeps for a fraction of the time waited so far, or until the awaited event
 * comes. */
static int sleep_slice(dcoll_request_t *q, uint64_t now, uint64_t waited)
{
    dcoll_team_t *team = q->team;
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    uint64_t slice = spin_slice_ns(
        waited, may_sleep_long(q) ? CROWDED_LEAST_NS : SLEEP_LEAST_NS,
        SLEEP_MOST_NS);
    if (team->cfg.idle && slice > IDLE_MOST_NS)
        slice = IDLE_MOST_NS;
    switch (op->kind) {
    case DCOLL_WAIT:
        return slept(team,
                     notifications_take(team, op->peer, (int)(slice / MS)));
    case DCOLL_COMPLETE:
        return slept(team, drail_wait(team->rail, &q->reqs[q->completed],
                                      (int)(slice / MS)));
    case DCOLL_AWAIT:
        flag_sleep(q, op, now + slice);
        return 0;
    default: /* PUT, NOTIFY, GET */
        platform_sleep(team->platform,
                       spin_slice_ns(waited, NAP_LEAST_NS, NAP_MOST_NS));
        return 0;
    }
}

/* ------------------------------------------------------ checks and errors */

/* The time since the request last moved, as far as it has been looked at. */
static uint64_t stands_for(dcoll_request_t *q, uint64_t now)
{
    if (!q->waiting_ns)
        q->waiting_ns = now;
    return now - q->waiting_ns;
}

/* After some time of waiting: has the peer failed, or made another call? */
static int check_peer(dcoll_request_t *q, uint64_t now)
{
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    struct standing peer;
    if (op->kind == DCOLL_COMPLETE || stands_for(q, now) < CHECK_AFTER_NS ||
        now - q->checked_ns < CHECK_AFTER_NS)
        return 0;
    int rc = ledger_check(q->team, op->peer);
    if (rc == DRAIL_EAGAIN)
        return 0; /* the next time */
    q->checked_ns = now;
    if (!rc && ledger_standing(q->team, op->peer, &peer))
        ledger_record_wait(q->team, &peer);
    return rc;
}

static int fail_timeout(dcoll_request_t *q, int timeout_ms)
{
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    const char *name = dcoll_collective_name(q->args.collective);
    switch (op->kind) {
    case DCOLL_COMPLETE:
        return team_fail(q->team, DRAIL_ETIMEOUT,
                         "%s: transfers have not completed within %d ms", name,
                         timeout_ms);
    case DCOLL_WAIT:
    case DCOLL_AWAIT:
        return team_fail(q->team, DRAIL_ETIMEOUT,
                         "%s: no answer of rank %u within %d ms", name,
                         op->peer, timeout_ms);
    default:
        return team_fail(q->team, DRAIL_ETIMEOUT,
                         "%s: rank %u has accepted nothing for %d ms", name,
                         op->peer, timeout_ms);
    }
}

/* --------------------------------------------------------------- polling */

/* Advances all started requests but q. */
static int progress_others(dcoll_team_t *team, const dcoll_request_t *q)
{
    dcoll_request_t *next;
    for (dcoll_request_t *r = TAILQ_FIRST(&team->active); r; r = next) {
        next = TAILQ_NEXT(r, active_one);
        int rc = r != q ? request_advance(r) : 0;
        if (rc && rc != DRAIL_EAGAIN)
            return rc;
    }
    return 0;
}

int team_advance_requests(dcoll_team_t *team)
{
    return progress_others(team, NULL);
}

static int progress_all(dcoll_request_t *q)
{
    int rc = team_progress(q->team);
    return rc ? rc : progress_others(q->team, q);
}

struct patience { /* of one wait for a request */
    int timeout_ms;
    unsigned polls;
    struct deadline deadline; /* at 0: it is too early to look at the clock */
    uint64_t moves;           /* of the team, as far as the spin knows */
    uint64_t reached;         /* by those it waits for, as far as they tell */
    uint64_t told;            /* the largest ledger_moved() of one rank */
    bool asleep;
    bool slept; /* at least once */
    struct spin spin;
};

/* The awaited event may need this core: for another rank, for the threads of
 * the rails, or, after that time, for another program. */
static uint64_t yield_after_ns(const dcoll_team_t *team)
{
    if (team->oversubscribed)
        return 0;
    return drail_config_of(team->rail)->engine == DRAIL_ENGINE_THREADED
               ? SPIN_YIELD_NS
               : YIELD_AFTER_NS;
}

/* On an oversubscribed core, polling keeps those processes from running that
 * bring messages of other hosts. Yielding does not help: a process that only
 * yields gets as much time as one that works. */
static uint64_t sleep_after_ns(const dcoll_team_t *team)
{
    return team->oversubscribed && team->several_hosts ? FAR_SLEEP_AFTER_NS
                                                       : SLEEP_AFTER_NS;
}

/* May the wait begin with a sleep, without progress of the rails? The sleep
 * itself looks at them if it awaits a message; and a rank without partners and
 * transfers uses none. */
static bool begins_asleep(const dcoll_request_t *q)
{
    return sleeps_at_once(q) && !q->team->cfg.idle && is_alone(q) &&
           (q->schedule.ops[q->pc].kind == DCOLL_WAIT ||
            (!q->partners.count && q->completed == q->transfers));
}

static void patience_begin(struct patience *p, const dcoll_team_t *team,
                           int timeout_ms)
{
    *p = (struct patience){.timeout_ms = timeout_ms, .moves = team->moves};
    spin_init(&p->spin, team->platform, yield_after_ns(team),
              sleep_after_ns(team));
    spin_begin(&p->spin);
}

/* Poll on, without sleeping? A waiter polls again as soon as any request of the
 * team has moved, as more may follow soon. Otherwise it keeps sleeping: ranks
 * that only yield to each other can keep kernel threads from a core for
 * seconds. */
static bool stays_awake(struct patience *p, const dcoll_request_t *q)
{
    const dcoll_team_t *team = q->team;
    if (p->moves != team->moves) {
        p->moves = team->moves;
        p->asleep = false;
        spin_begin(&p->spin);
    }
    p->asleep = p->asleep || sleeps_at_once(q) || !spin_more(&p->spin);
    return !p->asleep;
}

/* Has the slowest rank that this one waits for made more calls? */
static bool others_get_on(const dcoll_request_t *q, struct patience *p)
{
    uint64_t before = p->reached;
    p->reached = ledger_reached(q->team->ledger);
    return p->reached > before;
}

/* Records bytes that have moved for the operation. Returns whether any have. Of
 * a peer's puts, the peer tells; of this rank's own transfers the transport
 * knows. Reads of ledgers are transfers, too; but a rank that waits for
 * COMPLETE reads no ledger. */
static bool try_record_bytes(dcoll_request_t *q)
{
    dcoll_team_t *team = q->team;
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    uint64_t before = q->moved;
    q->moved = drail_moved(
        team->rail,
        team_peer(team, op->kind == DCOLL_COMPLETE ? team->rank : op->peer));
    if (q->moved <= before)
        return false;
    ledger_record_bytes(team);
    return true;
}

/* Do transfers make progress of a rank that this one waits for through others?
 */
static bool others_move(const dcoll_request_t *q, struct patience *p)
{
    return ledger_moved_since(&p->told, ledger_moved(q->team->ledger));
}

/* Restarts the timeout whenever this request, its bytes, or the rank that it
 * waits for have made progress: a credit may need many starts of that rank.
 * Time waited before this wait, in dcoll_test, does not count. */
static void count_turn(dcoll_request_t *q, struct patience *p, uint64_t now)
{
    bool others = others_get_on(q, p);
    others |= try_record_bytes(q);
    others |= others_move(q, p);
    if (p->deadline.at_ns && q->waiting_ns && !others)
        q->waiting_ns += deadline_turn(&p->deadline, now);
    else
        p->deadline = deadline_after(now, (uint64_t)p->timeout_ms * MS);
    if (!q->waiting_ns)
        q->waiting_ns = now;
}

static int check_time(dcoll_request_t *q, struct patience *p, uint64_t now)
{
    count_turn(q, p, now);
    return deadline_left(&p->deadline) ? check_peer(q, now)
                                       : fail_timeout(q, p->timeout_ms);
}

/* A wait that sleeps at once has no spin. */
static uint64_t waited_ns(dcoll_request_t *q, const struct patience *p,
                          uint64_t now)
{
    return sleeps_at_once(q) ? stands_for(q, now) : now - p->spin.start_ns;
}

/* Called between two polls. DRAIL_EAGAIN: poll again; 0: it is complete. */
static int relax(dcoll_request_t *q, struct patience *p)
{
    dcoll_team_t *team = q->team;
    bool awake = stays_awake(p, q);
    if (awake && ++p->polls % POLLS_BEFORE_PROGRESS)
        return DRAIL_EAGAIN;
    int rc = !p->slept && begins_asleep(q) ? DRAIL_EAGAIN : progress_all(q);
    /* the awaited event may have come with that */
    if (!rc)
        rc = request_advance(q);
    if (rc != DRAIL_EAGAIN)
        return rc;
    uint64_t now = platform_now(team->platform);
    rc = check_time(q, p, now);
    if (!rc && !awake && p->moves == team->moves) {
        p->slept = true;
        rc = sleep_slice(q, now, waited_ns(q, p, now));
    }
    return rc ? rc : DRAIL_EAGAIN;
}

int request_poll(dcoll_request_t *q)
{
    int rc = request_advance(q);
    if (rc != DRAIL_EAGAIN)
        return rc;
    rc = progress_all(q);
    if (!rc)
        rc = request_advance(q);
    if (rc != DRAIL_EAGAIN || ++q->polls % POLLS_BEFORE_PROGRESS)
        return rc;
    try_record_bytes(q); /* other ranks may wait for this one */
    int vain = check_peer(q, platform_now(q->team->platform));
    return vain ? vain : DRAIL_EAGAIN;
}

/* The bytes that a rank gives or gets. */
static size_t vector_bytes(const dcoll_request_t *q)
{
    return q->args.collective == DCOLL_ALLREDUCE
               ? q->args.bytes
               : q->args.bytes * q->team->shape.nranks;
}

/* Measured: yields between polls lose in all-to-alls of 64 bytes, and where
 * messages may come on either rail (transfers.c). */
static drail_polling_t polling_of(const dcoll_request_t *q)
{
    return q->args.collective == DCOLL_ALLTOALL ||
                   (q->team->contended && vector_bytes(q) > YIELDING_BYTES)
               ? DRAIL_POLLING_OFF
               : DRAIL_POLLING_YIELDING;
}

static int finish_patiently(dcoll_request_t *q, int timeout_ms)
{
    struct patience patience;
    int rc;
    patience_begin(&patience, q->team, timeout_ms);
    const bool shares_core = sleeps_at_once(q);
    drail_polling_t before = DRAIL_POLLING_ON;
    if (shares_core)
        before = drail_set_polling(q->team->rail, polling_of(q));
    do {
        rc = relax(q, &patience);
        if (rc == DRAIL_EAGAIN)
            rc = request_advance(q);
    } while (rc == DRAIL_EAGAIN);
    if (shares_core)
        drail_set_polling(q->team->rail, before);
    return rc;
}

/* A rank that shares a core with the ranks that it waits for must yield it. If
 * they run on other cores, yielding only costs context switches. */
static bool worth_polling(dcoll_request_t *q, unsigned polls)
{
    const dcoll_op_t *op = &q->schedule.ops[q->pc];
    if (!q->team->oversubscribed)
        return polls < POLLS_AT_ONCE;
    return polls < POLLS_ELSEWHERE && op->kind == DCOLL_AWAIT &&
           flag_elsewhere(q, op);
}

/* Polls briefly first: mostly the other ranks are just a moment behind. */
int request_finish(dcoll_request_t *q, int timeout_ms)
{
    const struct drail_platform *p = q->team->platform;
    unsigned polls = 0;
    int rc = request_advance(q);
    while (rc == DRAIL_EAGAIN && worth_polling(q, polls++)) {
        p->relax(p);
        rc = request_advance(q);
    }
    return rc == DRAIL_EAGAIN ? finish_patiently(q, timeout_ms) : rc;
}
