/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Performs schedules. One function per kind of operation; each returns 0 when
 * it is done, DRAIL_EAGAIN when it has to wait, or an error.
 */
#include <linux/futex.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

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

/* Which of the depth's memory the present start uses. */
static inline size_t turn(const dcoll_request_t *q)
{
    return q->start & (q->args.depth - 1);
}

static inline unsigned char *address(const dcoll_request_t *q,
                                     dcoll_place_t place)
{
    return q->base[place.space] + turn(q) * q->stride[place.space] +
           place.offset;
}

/* --------------------------------------------------------- notifications */

/* An id names the request and the tag. */
static inline uint32_t note_id(const dcoll_request_t *q, dcoll_tag_t tag)
{
    return q->id * DCOLL_TAGS + tag;
}

void team_deliver(dcoll_team_t *team, unsigned peer, uint32_t id)
{
    /* none: a credit for a request that needs it no more */
    for (dcoll_request_t *q = team->requests; q; q = q->next)
        if (q->id == id / DCOLL_TAGS)
            q->due[id % DCOLL_TAGS * team->shape.nranks + peer]++;
}

/* Takes what has come from a peer, waiting for at most so long. */
static int take_notes(dcoll_team_t *team, unsigned peer, int timeout_ms)
{
    uint32_t id;
    int rc = drail_notify_wait(team->rail, peer, &id, timeout_ms);
    if (!rc)
        team_deliver(team, peer, id);
    else if (rc != DRAIL_EAGAIN && rc != DRAIL_ETIMEOUT)
        team_rail_fail(team, rc);
    return rc;
}

static int perform_wait(dcoll_request_t *q, const dcoll_op_t *op)
{
    int32_t *due = &q->due[op->tag * q->team->shape.nranks + op->peer];
    while (*due <= 0) {
        int rc = take_notes(q->team, op->peer, 0);
        if (rc)
            return rc;
    }
    --*due;
    return 0;
}

/* Takes all that has come from a peer. */
static int take_all_notes(dcoll_team_t *team, unsigned peer)
{
    int rc;
    while (!(rc = take_notes(team, peer, 0)))
        ;
    return rc == DRAIL_EAGAIN ? 0 : rc;
}

int team_progress(dcoll_team_t *team)
{
    for (unsigned peer = 0; peer < team->shape.nranks; peer++)
        /* that he has left is no matter here: who waits for him finds out */
        if (team->connected[peer] && take_all_notes(team, peer) == DRAIL_EINTR)
            return DRAIL_EINTR;
    return drail_job_interrupted(team->job)
               ? team_fail(team, DRAIL_EINTR, "interrupted")
               : 0;
}

/* A peer who has no credit left for us may himself be waiting for credit, of us
 * or of others: we take what comes meanwhile. */
static int put(dcoll_request_t *q, unsigned peer, const drail_xfer_t *xfer,
               unsigned flags, dcoll_tag_t tag, drail_req_t *req)
{
    dcoll_team_t *team = q->team;
    const struct timespec nap = {.tv_nsec = 50000};
    uint64_t since = 0;
    int rc;
    flags |= DRAIL_NOTIFY | DRAIL_NOWAIT;
    while ((rc = drail_put(team->rail, peer, xfer, flags, note_id(q, tag),
                           req)) == DRAIL_EAGAIN) {
        uint64_t now = now_ns();
        since = since ? since : now;
        rc = team_progress(team);
        if (rc)
            return rc;
        if (now - since > (uint64_t)team->timeout_ms * 1000000u)
            return team_fail(team, DRAIL_ETIMEOUT,
                             "%s: rank %u has taken nothing for %d ms",
                             dcoll_collective_name(q->args.collective), peer,
                             team->timeout_ms);
        if (now - since < SLEEP_AFTER_NS)
            sched_yield();
        else
            nanosleep(&nap, NULL);
    }
    return rc ? team_rail_fail(team, rc) : 0;
}

static int perform_notify(dcoll_request_t *q, const dcoll_op_t *op)
{
    dcoll_team_t *team = q->team;
    drail_xfer_t xfer = {0};
    if (op->tag == DCOLL_READY)
        xfer = (drail_xfer_t){
            .local = q->my_key,
            .local_mem = q->keys_mem,
            .remote = &q->targets[op->peer].keys,
            .remote_offset = team->rank * sizeof(drail_key_t),
            .bytes = sizeof(drail_key_t),
        };
    return put(q, op->peer, &xfer, 0, op->tag, NULL);
}

/* ------------------------------------------------------------------ transfers
 */

static int perform_put(dcoll_request_t *q, const dcoll_op_t *op)
{
    dcoll_team_t *team = q->team;
    const struct target *target = &q->targets[op->peer];
    drail_xfer_t xfer = {.bytes = op->bytes};
    if (op->bytes) {
        xfer.local = address(q, op->src);
        xfer.local_mem = q->mem[op->src.space];
        xfer.remote_offset = op->dst.offset;
        if (op->dst.space == DCOLL_RECV) {
            xfer.remote = &q->keys[op->peer];
        } else if (op->dst.space == DCOLL_TEMP) {
            xfer.remote = &target->temp;
            xfer.remote_offset += turn(q) * target->temp_stride;
        } else {
            xfer.remote = &target->node;
            xfer.remote_offset += turn(q) * target->node_stride;
        }
    }
    unsigned rail = op->port % drail_nrails(team->rail);
    int rc = put(q, op->peer, &xfer, DRAIL_ON_RAIL(rail), DCOLL_DATA,
                 &q->reqs[q->transfers]);
    if (rc)
        return rc;
    q->transfers++;
    return 0;
}

static int perform_get(dcoll_request_t *q, const dcoll_op_t *op)
{
    dcoll_team_t *team = q->team;
    drail_xfer_t xfer = {
        .local = address(q, op->dst),
        .local_mem = q->mem[op->dst.space],
        .remote = &q->shared[op->peer - team->first].key,
        .remote_offset = op->src.offset,
        .bytes = op->bytes,
    };
    int rc = drail_get(team->rail, op->peer, &xfer, &q->reqs[q->transfers]);
    if (rc)
        return team_rail_fail(team, rc);
    q->transfers++;
    return 0;
}

static int perform_complete(dcoll_request_t *q)
{
    while (q->completed < q->transfers) {
        int rc = drail_test(q->team->rail, &q->reqs[q->completed]);
        if (rc == DRAIL_EAGAIN)
            return rc;
        if (rc)
            return team_rail_fail(q->team, rc);
        q->completed++;
    }
    return 0;
}

/* ----------------------------------------------------------------- flags */

static inline unsigned flag_index(const dcoll_request_t *q, unsigned rank,
                                  unsigned flag)
{
    return (rank - q->team->first) * q->schedule.flags + flag;
}

/* Where the flag of an operation by that rank is. */
static inline struct line *line_of(const dcoll_request_t *q, unsigned rank,
                                   const dcoll_op_t *op)
{
    unsigned index = flag_index(q, rank, op->flag);
    return op->bytes ? &q->lines[index * q->args.depth + turn(q)]
                     : &q->words[index];
}

static void futex_wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

static void futex_sleep(_Atomic uint32_t *word, uint32_t value, int ms)
{
    struct timespec slice = {.tv_nsec = ms * 1000000L};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &slice, NULL, 0);
}

static void perform_signal(dcoll_request_t *q, const dcoll_op_t *op)
{
    struct line *line = line_of(q, q->team->rank, op);
    if (op->bytes)
        memcpy(line->payload, address(q, op->src), op->bytes);
    atomic_store_explicit(&line->value, (uint32_t)q->start + 1,
                          memory_order_release);
    /* without a fence: a sleeper that is missed wakes up a slice later */
    if (atomic_load_explicit(&q->header->sleepers, memory_order_relaxed))
        futex_wake(&line->value);
}

/* Is a flag of this value set for that start, or a later one? Values wrap. */
static inline bool is_set(uint32_t value, uint64_t start)
{
    return (int32_t)(value - ((uint32_t)start + 1)) >= 0;
}

static inline bool line_set(const struct line *line, uint64_t start)
{
    return is_set(atomic_load_explicit(&line->value, memory_order_acquire),
                  start);
}

static int perform_await(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct line *line = line_of(q, op->peer, op);
    if (op->bytes) {
        if (!line_set(line, q->start))
            return DRAIL_EAGAIN;
        memcpy(address(q, op->dst), line->payload, op->bytes);
        return 0;
    }
    if (q->start < op->lag)
        return 0;
    /* who is behind needs no look at the flag: it costs a cache miss */
    uint32_t *seen = &q->seen[flag_index(q, op->peer, op->flag)];
    uint64_t start = q->start - op->lag;
    if (!is_set(*seen, start))
        *seen = atomic_load_explicit(&line->value, memory_order_acquire);
    return is_set(*seen, start) ? 0 : DRAIL_EAGAIN;
}

/* A root in place has its own block where it belongs. */
static inline void perform_copy(dcoll_request_t *q, const dcoll_op_t *op)
{
    unsigned char *dst = address(q, op->dst), *src = address(q, op->src);
    if (dst != src)
        memcpy(dst, src, op->bytes);
}

/* -------------------------------------------------------------- requests */

static inline int perform(dcoll_request_t *q, const dcoll_op_t *op)
{
    switch (op->kind) {
    case DCOLL_PUT:
        return perform_put(q, op);
    case DCOLL_GET:
        return perform_get(q, op);
    case DCOLL_NOTIFY:
        return perform_notify(q, op);
    case DCOLL_WAIT:
        return perform_wait(q, op);
    case DCOLL_COMPLETE:
        return perform_complete(q);
    case DCOLL_COPY:
        perform_copy(q, op);
        return 0;
    case DCOLL_SIGNAL:
        perform_signal(q, op);
        return 0;
    case DCOLL_AWAIT:
        return perform_await(q, op);
    }
    return DRAIL_EINVAL;
}

/* What is not waited for yet must not fill the transport's queue of the peer,
 * who would wait for room in it. */
static int take_credits(dcoll_request_t *q)
{
    int rc = 0;
    for (unsigned i = 0; !rc && i < q->ncreditors; i++)
        rc = take_all_notes(q->team, q->creditors[i]);
    return rc;
}

int request_begin(dcoll_request_t *q)
{
    q->pc = 0;
    q->transfers = q->completed = 0;
    q->waiting_ns = 0;
    q->asleep = false;
    q->active = true;
    return take_credits(q);
}

int request_advance(dcoll_request_t *q)
{
    while (q->pc < q->schedule.nops) {
        int rc = perform(q, &q->schedule.ops[q->pc]);
        if (rc)
            return rc;
        q->pc++;
        q->waiting_ns = 0;
        q->asleep = false;
    }
    q->active = false;
    q->start++;
    return 0;
}

/* --------------------------------------------------------------- waiting */

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
        int rc = take_notes(team, op->peer, ms);
        return rc == DRAIL_ETIMEOUT || rc == DRAIL_EAGAIN ? 0 : rc;
    }
    if (op->kind == DCOLL_COMPLETE) {
        int rc = drail_wait(team->rail, &q->reqs[q->completed], ms);
        return rc == DRAIL_ETIMEOUT || rc == DRAIL_EAGAIN
                   ? 0
                   : (rc ? team_rail_fail(team, rc) : 0);
    }
    uint64_t start = q->start - op->lag;
    struct line *line = line_of(q, op->peer, op);
    atomic_fetch_add(&q->header->sleepers, 1);
    uint32_t value = atomic_load(&line->value);
    if (!is_set(value, start))
        futex_sleep(&line->value, value, ms);
    atomic_fetch_sub(&q->header->sleepers, 1);
    return 0;
}

static int progress_others(dcoll_request_t *q)
{
    for (dcoll_request_t *r = q->team->requests; r; r = r->next) {
        int rc = r != q && r->active ? request_advance(r) : 0;
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
