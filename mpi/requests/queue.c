/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose turn the team of a communicator is: calls that block, those that are
 * queued, and who makes progress with those that are under way. */
#include <sched.h>
#include <stdlib.h>

#include "mpi/requests/queue.h"

static struct {
    pthread_mutex_t lock; /* never within that of a team */
    LIST_HEAD(, requests) comms;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

void team_no_memory(const struct layer_comm *c)
{
    fprintf(stderr, "dcoll_mpi: no memory\n");
    pmpi.Abort(c->inner, 1);
}

struct requests *requests_of(struct layer_comm *c)
{
    struct requests *s = c->requests ? NULL : calloc(1, sizeof *s);
    if (c->requests)
        return c->requests;
    if (!s) {
        team_no_memory(c);
        return NULL;
    }
    s->c = c;
    pthread_mutex_init(&s->lock, NULL);
    TAILQ_INIT(&s->queue);
    TAILQ_INIT(&s->under_way);
    TAILQ_INIT(&s->persistent);
    pthread_mutex_lock(&all.lock);
    LIST_INSERT_HEAD(&all.comms, s, link);
    pthread_mutex_unlock(&all.lock);
    return c->requests = s;
}

void team_guard(struct layer_comm *c)
{
    struct requests *s = requests_of(c);
    if (!s)
        return;
    team_take_now(s);
    s->guarded = true;
    team_give(s);
    pulse_guard();
}

void team_leave(struct requests *s)
{
    if (s->guarded)
        pulse_unguard();
    pthread_mutex_lock(&all.lock);
    LIST_REMOVE(s, link);
    pthread_mutex_unlock(&all.lock);
    pthread_mutex_destroy(&s->lock);
}

void team_take_now(struct requests *s)
{
    pthread_mutex_lock(&s->lock);
}

void team_give(struct requests *s)
{
    pthread_mutex_unlock(&s->lock);
}

/* ------------------------------------------------------------ progress --- */

const char *team_algorithm(const struct layer_comm *c)
{
    return dcoll_team_shape(c->team)->nnodes > 1 ? "direct" : NULL;
}

/* Between nodes the others would agree on bounds first. */
static dcoll_alltoallv_t unbounded(const struct request *r)
{
    dcoll_alltoallv_t call = *irregular_call(r->work.irregular);
    call.algorithm = team_algorithm(r->c);
    return call;
}

void team_refused(struct layer_comm *c, int rc)
{
    bool common =
        !rc || rc == DRAIL_EAGAIN || rc == DRAIL_ENOMEM || rc == DRAIL_ENOTSUP;
    if (!common && !dcoll_team_error(c->team))
        dcoll_team_skip(c->team);
}

static int begin_irregular(struct request *r)
{
    dcoll_alltoallv_t call = unbounded(r);
    int rc = dcoll_alltoallv_would_wait(r->c->team, &call);
    return rc ? rc : dcoll_alltoallv_begin(r->c->team, &call, &r->q);
}

static int begin_regular(struct request *r)
{
    const dcoll_call_t *call = ours_call(r->work.ours);
    int rc = dcoll_would_wait(r->c->team, call);
    return rc ? rc : dcoll_begin(r->c->team, call, &r->q);
}

/* DRAIL_EAGAIN: it has to wait for another one. */
static int begin(struct request *r)
{
    int rc = dcoll_team_error(r->c->team);
    if (rc)
        return rc;
    if (r->skipped) {
        dcoll_team_skip(r->c->team);
        return 0;
    }
    rc = r->work.irregular ? begin_irregular(r) : begin_regular(r);
    team_refused(r->c, rc);
    return rc;
}

static void moved(struct request *r, int rc)
{
    pulse_less();
    if (r->skipped) {
        free(r);
        return;
    }
    r->rc = rc;
    atomic_store(&r->stage, STAGE_MOVED);
}

/* In their order, which is that of all ranks. */
void team_begin_queued(struct requests *s)
{
    struct request *r;
    while ((r = TAILQ_FIRST(&s->queue))) {
        int rc = begin(r);
        if (rc == DRAIL_EAGAIN)
            return;
        TAILQ_REMOVE(&s->queue, r, link);
        if (rc || r->skipped) {
            moved(r, rc);
            continue;
        }
        atomic_store(&r->stage, STAGE_UNDER_WAY);
        TAILQ_INSERT_TAIL(&s->under_way, r, link);
    }
}

void team_queue(struct requests *s, struct request *r)
{
    r->stage = STAGE_QUEUED;
    pulse_more();
    pthread_mutex_lock(&s->lock);
    TAILQ_INSERT_TAIL(&s->queue, r, link);
    team_begin_queued(s);
    team_give(s);
}

void team_settle(struct requests *s, struct request *r, int rc)
{
    TAILQ_REMOVE(&s->under_way, r, link);
    moved(r, rc);
}

void team_advance(struct requests *s)
{
    struct request *r = TAILQ_FIRST(&s->under_way), *next;
    for (; r; r = next) {
        next = TAILQ_NEXT(r, link);
        int rc = dcoll_test(r->q);
        if (rc != DRAIL_EAGAIN)
            team_settle(s, r, rc);
    }
    team_begin_queued(s);
}

void requests_advance_all(void)
{
    struct requests *s;
    pthread_mutex_lock(&all.lock);
    LIST_FOREACH(s, &all.comms, link)
    {
        if (pthread_mutex_trylock(&s->lock))
            continue;
        team_advance(s);
        if (s->guarded)
            drail_progress(s->c->rail); /* its errors show in later calls */
        team_give(s);
    }
    pthread_mutex_unlock(&all.lock);
}

/* ------------------------------------------------------ calls that wait --- */

void team_take(struct requests *s)
{
    pthread_mutex_lock(&s->lock);
    team_begin_queued(s);
    while (!TAILQ_EMPTY(&s->queue)) {
        team_advance(s);
        layer_progress_below(s->c);
        sched_yield();
    }
}

int team_run(struct layer_comm *c, const dcoll_call_t *call)
{
    if (!c->requests)
        return dcoll_run(c->team, call);
    team_take(c->requests);
    int rc = dcoll_run(c->team, call);
    team_give(c->requests);
    return rc;
}

int team_alltoallv(struct layer_comm *c, const dcoll_alltoallv_t *call)
{
    if (!c->requests)
        return dcoll_alltoallv(c->team, call);
    team_take(c->requests);
    int rc = dcoll_alltoallv(c->team, call);
    team_give(c->requests);
    return rc;
}

void team_skip(struct layer_comm *c)
{
    if (!c->requests) {
        dcoll_team_skip(c->team);
        return;
    }
    team_take(c->requests);
    dcoll_team_skip(c->team);
    team_give(c->requests);
}

void team_give_up(const struct layer_comm *c, const char *why)
{
    if (c->requests)
        pthread_mutex_lock(&c->requests->lock);
    dcoll_team_give_up(c->team, DRAIL_EJOB, why);
    if (c->requests)
        team_give(c->requests);
}
