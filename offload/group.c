/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group: its calls, which are carried out one after the other. The thread
 * that holds team_lock drives the first call: the consumer's polls, by steps;
 * or the worker, which may wait. The worker drives when a call can't go on
 * without waiting, when the consumer sleeps, and when it has not polled for a
 * while.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "offload/offload.h"

#define NAP_NS   1000000  /* of the worker, between two looks, … */
#define STAYS    100u     /* … for so many looks after the last call */
#define GUARD_NS 20000000 /* between two looks at a group without calls */
#define UNPOLLED 4u       /* naps without a poll: the consumer is busy */

/* ---------------------------------------------------------------- calls --- */

/* The first call; NULL: there is none. It stays while team_lock is held. */
static const struct dapl_collective_call *first_call(struct group *g)
{
    uint64_t first = atomic_load(&g->first);
    return first == atomic_load(&g->end) ? NULL
                                         : &g->calls[first % GROUP_CALLS];
}

/* Ends the first call. */
static void retire(struct group *g, bool ok)
{
    struct dapl_collective_call call = *first_call(g);
    atomic_fetch_add(&g->first, 1); /* its place may be used again */
    g->done(g->owner, &call, ok);
}

static void call_worker(struct group *g)
{
    pthread_mutex_lock(&g->lock);
    g->wants_worker = true;
    atomic_store(&g->claimed, true);
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
}

/* A step of the first call, or all of it. DRAIL_EAGAIN: it is not complete. */
static int drive(struct group *g, const struct dapl_collective_call *first,
                 bool may_wait)
{
    int rc;
    if (!g->request) {
        dcoll_call_t call;
        offload_call(first, &call);
        rc = may_wait ? 0 : dcoll_would_wait(g->team, &call);
        if (rc == DRAIL_EAGAIN || rc == DRAIL_ENOTSUP) {
            call_worker(g);
            return DRAIL_EAGAIN;
        }
        if (!rc)
            rc = dcoll_begin(g->team, &call, &g->request);
        if (rc)
            return rc;
    }
    rc = may_wait ? dcoll_wait(g->request, -1) : dcoll_test(g->request);
    if (rc != DRAIL_EAGAIN)
        g->request = NULL;
    return rc;
}

/* Carries out calls as far as possible. team_lock is held. */
static void advance(struct group *g, bool may_wait)
{
    const struct dapl_collective_call *call;
    while (g->team && (call = first_call(g))) {
        int rc = g->broken ? g->broken : drive(g, call, may_wait);
        if (rc == DRAIL_EAGAIN)
            return;
        if (rc && !g->broken) {
            g->broken = rc;
            dcoll_team_give_up(g->team, rc, "a rank's call has failed");
        }
        retire(g, !rc);
    }
}

DAT_RETURN group_start(void *group, const struct dapl_collective_call *call)
{
    struct group *g = group;
    dcoll_call_t check;
    if (!offload_call(call, &check))
        return OFFLOAD_ERROR(DAT_MODEL_NOT_SUPPORTED, DAT_NO_SUBTYPE);
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
    if (!room)
        return OFFLOAD_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE);
    group_progress(g);
    return DAT_SUCCESS;
}

void group_progress(void *group)
{
    struct group *g = group;
    atomic_fetch_add_explicit(&g->polls, 1, memory_order_relaxed);
    if (atomic_load(&g->claimed) || pthread_mutex_trylock(&g->team_lock))
        return;
    advance(g, false);
    pthread_mutex_unlock(&g->team_lock);
}

void group_rest(void *group)
{
    struct group *g = group;
    if (first_call(g))
        call_worker(g);
}

/* --------------------------------------------------------------- worker --- */

static struct timespec after(uint64_t ns)
{
    const uint64_t at = busywait_now_ns() + ns;
    return (struct timespec){.tv_sec = (time_t)(at / 1000000000u),
                             .tv_nsec = (long)(at % 1000000000u)};
}

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
        if (l.wanted || (l.calls && unpolled >= UNPOLLED)) {
            pthread_mutex_lock(&g->team_lock);
            atomic_store(&g->claimed, false);
            advance(g, true);
            pthread_mutex_unlock(&g->team_lock);
        }
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
    pthread_mutex_lock(&g->team_lock);
    g->broken = group_open_team(g);
    pthread_mutex_lock(&g->lock);
    g->opened = true;
    pthread_mutex_unlock(&g->lock);
    if (g->broken != DRAIL_EINTR)
        g->done(g->owner, &created, !g->broken);
    pthread_mutex_unlock(&g->team_lock);
    serve(g);
    group_close_team(g);
    atomic_store(&g->ended, true);
    return NULL;
}

/* It blocks all signals, which are the program's. */
static bool start_worker(struct group *g)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = !pthread_create(&g->worker, NULL, work, g);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

/* -------------------------------------------------------- begin and end --- */

static void group_delete(struct group *g)
{
    close(g->star.wake);
    pthread_cond_destroy(&g->wake);
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
    g->star.wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (g->star.wake < 0) {
        free(g);
        return NULL;
    }
    g->star.size = how->size;
    g->star.self = how->self;
    g->member = m;
    g->done = how->done;
    g->owner = how->owner;
    g->context = how->context;
    g->id = how->id;
    memcpy(&g->root, how->members[0], sizeof g->root);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&g->wake, &monotonic);
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
        if (!atomic_load(&g->ended)) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        pthread_join(g->worker, NULL);
        group_delete(g);
    }
}

void group_leave_member(void *member)
{
    struct member *m = member;
    pthread_mutex_lock(&m->lock);
    bool last = --m->users == 0;
    pthread_mutex_unlock(&m->lock);
    if (!last)
        return;
    for (struct group *g = m->groups, *next; g; g = next) {
        next = g->next;
        pthread_join(g->worker, NULL);
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
    bool runs = start_worker(g);
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
        dcoll_team_give_up(g->team, DRAIL_EPEER, "a rank has freed the group");
    }
    while (first_call(g))
        retire(g, false);
    pthread_mutex_unlock(&g->team_lock);
    pthread_mutex_lock(&m->lock); /* nobody deletes it meanwhile */
    pthread_mutex_lock(&g->lock);
    g->released = true;
    pthread_cond_signal(&g->wake);
    pthread_mutex_unlock(&g->lock);
    pthread_mutex_unlock(&m->lock);
    group_leave_member(m);
}
