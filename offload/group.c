/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group: its calls, which are carried out one after the other. The thread
 * that holds team_lock drives the first call: the consumer's polls, by steps;
 * or the worker, which may wait. The worker drives when a call can't go on
 * without waiting, when the consumer sleeps, and when it has not polled for a
 * while.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "offload/offload.h"
#include "providers/core/thread.h"

#define NAP_NS   1000000  /* of the worker, between two looks, … */
#define STAYS    100u     /* … for so many looks after the last call */
#define GUARD_NS 20000000 /* between two looks at a group without calls */
#define UNPOLLED 4u       /* naps without a poll: the consumer is busy */
#define STEP_NS  20000    /* of a poll, while a call is under way */
#define REST_NS  200000   /* of a poll, while the worker is at work */
#define END_MS   2500     /* for a worker to end as it should */

/* ---------------------------------------------------------------- calls --- */

/* The first call; NULL: there is none. It stays while team_lock is held. */
static const struct queued_call *first_call(struct group *g)
{
    uint64_t first = atomic_load(&g->first);
    return first == atomic_load(&g->end) ? NULL
                                         : &g->calls[first % GROUP_CALLS];
}

/* Ends the first call. */
static void retire(struct group *g, bool ok)
{
    const struct queued_call *first = first_call(g);
    struct dapl_collective_call call = first->call;
    free(first->arrays);
    atomic_fetch_add(&g->first, 1); /* its place may be used again */
    g->done(g->owner, &call, ok);
}

static void call_worker(struct group *g)
{
    pthread_mutex_lock(&g->lock);
    g->wants_worker = true;
    atomic_store(&g->at_work, true);
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
}

/* A step of the first call, or all of it. DRAIL_EAGAIN: it is not complete. */
static int drive(struct group *g, const struct queued_call *first,
                 bool may_wait)
{
    int rc;
    if (!g->request) {
        rc = may_wait ? 0 : queued_call_would_wait(g->team, first);
        if (rc == DRAIL_EAGAIN || rc == DRAIL_ENOTSUP) {
            call_worker(g);
            return DRAIL_EAGAIN;
        }
        if (!rc)
            rc = queued_call_begin(g->team, first, &g->request);
        if (rc)
            return rc;
    }
    rc = may_wait ? dcoll_wait(g->request, -1) : dcoll_test(g->request);
    if (rc != DRAIL_EAGAIN)
        g->request = NULL;
    return rc;
}

/* Ends all calls of a broken group. The consumer may use their buffers again
 * when it sees an error, and ranks that come late may write into them until the
 * rail is closed. */
static void fail_all(struct group *g)
{
    group_close_team(g);
    while (first_call(g))
        retire(g, false);
}

/* Carries out calls as far as possible. team_lock is held. */
static void advance(struct group *g, bool may_wait)
{
    const struct queued_call *call;
    while (!g->broken && (call = first_call(g))) {
        int rc = drive(g, call, may_wait);
        if (rc == DRAIL_EAGAIN)
            return;
        if (!rc) {
            retire(g, true);
            continue;
        }
        g->broken = rc;
        dcoll_team_give_up(g->team, rc, "a rank's call has failed");
    }
    /* the consumer may just have added a call to a group that works */
    if (!g->broken || !first_call(g))
        return;
    if (may_wait || !g->rail)
        fail_all(g);
    else
        call_worker(g);
}

static struct timespec after(uint64_t ns)
{
    const uint64_t at = busywait_now_ns() + ns;
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000u),
                             .tv_nsec = (long)(at % 1000000000u)};
}

/* The consumer may look at much else between two polls. So a poll stays for a
 * moment with a call that is under way. */
static void advance_for(struct group *g, uint64_t ns)
{
    if (pthread_mutex_trylock(&g->team_lock))
        return;
    const uint64_t until = busywait_now_ns() + ns;
    do
        advance(g, false);
    while (g->request && busywait_now_ns() < until);
    pthread_mutex_unlock(&g->team_lock);
}

/* Adds a call, if there is room. */
static bool add_call(struct group *g, const struct queued_call *call)
{
    pthread_mutex_lock(&g->lock);
    uint64_t end = atomic_load(&g->end);
    bool room = end - atomic_load(&g->first) < GROUP_CALLS;
    if (room) {
        g->calls[end % GROUP_CALLS] = *call;
        atomic_store(&g->end, end + 1);
    }
    if (g->sleeps)
        pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
    return room;
}

DAT_RETURN group_start(void *group, const struct dapl_collective_call *call)
{
    struct group *g = group;
    struct queued_call queued;
    DAT_RETURN ret = queued_call_make(g, call, &queued);
    if (ret != DAT_SUCCESS)
        return ret;
    if (!add_call(g, &queued)) {
        free(queued.arrays);
        return OFFLOAD_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE);
    }
    if (!atomic_load(&g->at_work))
        advance_for(g, 0);
    return DAT_SUCCESS;
}

/* A group whose last call is complete has moved, too: the consumer has an
 * event. */
enum dapl_collective_state group_progress(void *group)
{
    struct group *g = group;
    atomic_fetch_add_explicit(&g->polls, 1, memory_order_relaxed);
    if (!atomic_load(&g->at_work)) {
        if (!first_call(g))
            return DAPL_COLLECTIVE_IDLE;
        advance_for(g, STEP_NS);
    }
    return atomic_load(&g->at_work) ? DAPL_COLLECTIVE_AT_WORK
                                    : DAPL_COLLECTIVE_MOVING;
}

/* The worker, or that of another rank, may need the core on which the consumer
 * polls. */
void group_leave_core(void *group)
{
    struct group *g = group;
    const struct timespec until = after(REST_NS);
    int rc = 0;
    pthread_mutex_lock(&g->lock);
    while (!rc && atomic_load(&g->at_work))
        rc = pthread_cond_timedwait(&g->work_ended, &g->lock, &until);
    pthread_mutex_unlock(&g->lock);
}

void group_rest(void *group)
{
    struct group *g = group;
    if (first_call(g))
        call_worker(g);
}

/* --------------------------------------------------------------- worker --- */

/* What the worker finds after a nap. */
struct look {
    bool released, calls, wanted;
};

static struct look nap(struct group *g, bool idle)
{
    const struct timespec until = after(idle ? GUARD_NS : NAP_NS);
    int rc = 0;
    pthread_mutex_lock(&g->lock);
    g->sleeps = idle;
    while (!rc && !g->released && !g->wants_worker && !(idle && first_call(g)))
        rc = pthread_cond_timedwait(&g->wake, &g->lock, &until);
    struct look l = {.released = g->released,
                     .calls = first_call(g),
                     .wanted = g->wants_worker};
    g->sleeps = g->wants_worker = false;
    pthread_mutex_unlock(&g->lock);
    return l;
}

/* Flow control and the repair of rails need this rank also between calls. */
static void guard(struct group *g)
{
    if (pthread_mutex_trylock(&g->team_lock))
        return;
    if (!g->broken)
        drail_progress(g->rail);
    pthread_mutex_unlock(&g->team_lock);
}

/* The worker has done what it was called for. It may have been called again. */
static void end_work(struct group *g, bool for_good)
{
    pthread_mutex_lock(&g->lock);
    g->ended = for_good;
    atomic_store(&g->at_work, g->wants_worker);
    pthread_cond_broadcast(&g->work_ended);
    pthread_mutex_unlock(&g->lock);
}

static void drive_all(struct group *g)
{
    atomic_store(&g->at_work, true);
    pthread_mutex_lock(&g->team_lock);
    advance(g, true);
    pthread_mutex_unlock(&g->team_lock);
    end_work(g, false);
}

static void serve(struct group *g)
{
    unsigned idle = 0, unpolled = 0, polls = 0;
    for (;;) {
        struct look l = nap(g, idle >= STAYS);
        unsigned now = atomic_load_explicit(&g->polls, memory_order_relaxed);
        if (l.released)
            return;
        unpolled = now == polls ? unpolled + 1 : 0;
        polls = now;
        if (l.wanted || (l.calls && unpolled >= UNPOLLED))
            drive_all(g);
        star_refuse(&g->star, g->member, g->id);
        idle = l.calls || l.wanted ? 0 : idle + 1;
        if (idle)
            guard(g);
    }
}

static void *work(void *group)
{
    struct group *g = group;
    const struct dapl_collective_call created = {
        .op = DAT_IB_COLLECTIVE_CREATE_GROUP_OP, .context = g->context};
    core_thread_short_slices();
    pthread_mutex_lock(&g->team_lock);
    if (!g->broken) /* else it has been freed already */
        g->broken = group_open_team(g);
    pthread_mutex_lock(&g->lock);
    g->opened = true;
    pthread_mutex_unlock(&g->lock);
    if (g->broken != DRAIL_EINTR)
        g->done(g->owner, &created, !g->broken);
    pthread_mutex_unlock(&g->team_lock);
    end_work(g, false);
    serve(g);
    group_close_team(g);
    end_work(g, true);
    return NULL;
}

/* -------------------------------------------------------- begin and end --- */

static void group_delete(struct group *g)
{
    star_delete(&g->star);
    pthread_cond_destroy(&g->wake);
    pthread_cond_destroy(&g->work_ended);
    pthread_mutex_destroy(&g->lock);
    pthread_mutex_destroy(&g->team_lock);
    free(g);
}

static struct group *group_new(struct member *m,
                               const struct dapl_collective_group *how)
{
    struct group *g = calloc(1, sizeof *g);
    pthread_condattr_t monotonic;
    if (!g)
        return NULL;
    if (star_new(&g->star, how->size, how->self)) {
        free(g);
        return NULL;
    }
    g->member = m;
    g->done = how->done;
    g->owner = how->owner;
    g->context = how->context;
    g->id = how->id;
    memcpy(&g->root, how->members[0], sizeof g->root);
    atomic_init(&g->at_work, true); /* creates the team */
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&g->wake, &monotonic);
    pthread_cond_init(&g->work_ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&g->lock, NULL);
    pthread_mutex_init(&g->team_lock, NULL);
    return g;
}

/*
 * A node is named by its lowest rank. Without a layout each rank is one. As the
 * header has it, intranode_table has the ranks of this node, and -1 for others.
 * Intel MPI 2018 has no -1 there: its internode_table numbers each rank's node.
 * Its local_ranks are not ranks of the group, or not set.
 */
static uint32_t node_of(const struct dapl_collective_group *how)
{
    static const DAT_IB_COLLECTIVE_GROUP none;
    const DAT_IB_COLLECTIVE_GROUP *layout = how->layout ? how->layout : &none;
    const int *local = layout->intranode_table, *node = layout->internode_table;
    unsigned here = 0, r = 0;
    while (local && r < how->size)
        here += local[r++] >= 0;
    bool marked = local && here == (unsigned)layout->local_size;
    bool numbered = !marked && node && node[how->self] >= 0;
    for (r = 0; r < how->self; r++)
        if ((marked && local[r] >= 0) ||
            (numbered && node[r] == node[how->self]))
            break;
    return r;
}

/* Deletes groups that have ended. The member's lock is held. */
static void sweep(struct member *m)
{
    for (struct group **at = &m->groups, *g; (g = *at);) {
        pthread_mutex_lock(&g->lock);
        bool ended = g->ended;
        pthread_mutex_unlock(&g->lock);
        if (!ended) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        pthread_join(g->worker, NULL);
        group_delete(g);
    }
}

/* Ends what the worker waits for. */
static void interrupt(struct group *g)
{
    uint64_t one = 1;
    pthread_mutex_lock(&g->lock);
    if (g->job)
        drail_job_interrupt(g->job);
    pthread_mutex_unlock(&g->lock);
    if (write(g->star.wake, &one, sizeof one) < 0)
        return; /* it is readable already */
}

/* A worker waits for its peers when it ends; one of them may be stopped. */
static void await_end(struct group *g, const struct timespec *until)
{
    int rc = 0;
    pthread_mutex_lock(&g->lock);
    while (!rc && !g->ended)
        rc = pthread_cond_timedwait(&g->work_ended, &g->lock, until);
    pthread_mutex_unlock(&g->lock);
    if (rc)
        interrupt(g);
    pthread_join(g->worker, NULL);
}

void group_leave_member(void *member)
{
    struct member *m = member;
    pthread_mutex_lock(&m->lock);
    bool last = --m->users == 0;
    pthread_mutex_unlock(&m->lock);
    if (!last)
        return;
    const struct timespec until = after(END_MS * 1000000ull);
    for (struct group *g = m->groups, *next; g; g = next) {
        next = g->next;
        await_end(g, &until);
        group_delete(g);
    }
    member_delete(m);
}

DAT_RETURN group_create(void *member, const struct dapl_collective_group *how,
                        void **group)
{
    struct member *m = member;
    if (how->size > DRAIL_MAX_RANKS)
        return OFFLOAD_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4);
    if (memcmp(how->members[how->self], &m->info, sizeof m->info))
        return OFFLOAD_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
    struct group *g = group_new(m, how);
    if (!g)
        return OFFLOAD_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    g->node = node_of(how);
    pthread_mutex_lock(&m->lock);
    sweep(m);
    *group = g; /* before the consumer can see that it is created */
    bool runs = !core_thread_create(&g->worker, NULL, work, g);
    if (runs) {
        g->next = m->groups;
        m->groups = g;
        m->users++;
    }
    pthread_mutex_unlock(&m->lock);
    if (!runs) {
        group_delete(g);
        return OFFLOAD_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);
    }
    return DAT_SUCCESS;
}

void group_free(void *group)
{
    struct group *g = group;
    struct member *m = g->member;
    pthread_mutex_lock(&g->lock);
    g->freed = true;
    bool busy = !g->opened || first_call(g);
    pthread_mutex_unlock(&g->lock);
    if (busy)
        interrupt(g);
    pthread_mutex_lock(&g->team_lock);
    if (busy && !g->broken) {
        g->broken = DRAIL_EINTR;
        if (g->team) /* else its worker has not begun yet */
            dcoll_team_give_up(g->team, DRAIL_EPEER,
                               "a rank has freed the group");
    }
    if (first_call(g))
        fail_all(g);
    pthread_mutex_unlock(&g->team_lock);
    pthread_mutex_lock(&m->lock); /* nobody deletes it meanwhile */
    pthread_mutex_lock(&g->lock);
    g->released = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
    pthread_mutex_unlock(&m->lock);
    group_leave_member(m);
}
