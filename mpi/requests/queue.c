/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of a communicator. It owns the lock of the team, which the
 * program's threads and the progress thread share. Non-blocking calls begin in
 * the order in which they were made, as on all ranks; blocking ones wait for
 * that. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/requests/queue.h"
#include "mpi/run/run.h"

static struct {
    pthread_mutex_t lock; /* taken before that of a queue */
    LIST_HEAD(, request_queue) comms;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void no_memory(const struct layer_comm *c)
{
    fprintf(stderr, "dcoll_mpi: no memory\n");
    pmpi.Abort(c->inner, 1);
}

struct request_queue *queue_of(struct layer_comm *c)
{
    struct request_queue *q = c->queue ? NULL : calloc(1, sizeof *q);
    if (c->queue)
        return c->queue;
    if (!q) {
        no_memory(c);
        return NULL;
    }
    q->c = c;
    pthread_mutex_init(&q->lock, NULL);
    TAILQ_INIT(&q->waiting);
    TAILQ_INIT(&q->under_way);
    TAILQ_INIT(&q->persistent);
    pthread_mutex_lock(&all.lock);
    LIST_INSERT_HEAD(&all.comms, q, link);
    pthread_mutex_unlock(&all.lock);
    return c->queue = q;
}

void queue_guard(struct layer_comm *c)
{
    struct request_queue *q = queue_of(c);
    if (!q)
        return;
    queue_lock(q);
    q->guarded = true;
    queue_unlock(q);
    progress_thread_add_guarded();
}

void queue_leave(struct request_queue *q)
{
    if (q->guarded)
        progress_thread_end_guarded();
    pthread_mutex_lock(&all.lock);
    LIST_REMOVE(q, link);
    pthread_mutex_unlock(&all.lock);
    pthread_mutex_destroy(&q->lock);
}

void queue_lock(struct request_queue *q)
{
    pthread_mutex_lock(&q->lock);
}

void queue_unlock(struct request_queue *q)
{
    pthread_mutex_unlock(&q->lock);
}

/* ------------------------------------------------------------ progress --- */

const char *team_algorithm(const struct layer_comm *c)
{
    return dcoll_team_shape(c->team)->nnodes > 1 ? "direct" : NULL;
}

void team_skip_refused(struct layer_comm *c, int rc)
{
    bool common =
        !rc || rc == DRAIL_EAGAIN || rc == DRAIL_ENOMEM || rc == DRAIL_ENOTSUP;
    if (!common && !dcoll_team_error(c->team))
        dcoll_team_skip(c->team);
}

/* Without common bounds, which the ranks would have to agree on. */
static int begin_exchange(struct request *r)
{
    dcoll_team_t *team = r->c->team;
    struct exchange e = *irregular_exchange(r->work.irregular);
    e.among_all.algorithm = e.among_neighbors.algorithm = team_algorithm(r->c);
    int rc = dcoll_alltoallv_would_wait(team, &e.among_all);
    if (rc)
        return rc;
    return e.of_neighbors
               ? dcoll_neighbor_alltoallv_begin(team, &e.among_neighbors,
                                                &r->dcoll)
               : dcoll_alltoallv_begin(team, &e.among_all, &r->dcoll);
}

static int begin_call(struct request *r, const dcoll_call_t *call)
{
    int rc = dcoll_would_wait(r->c->team, call);
    return rc ? rc : dcoll_begin(r->c->team, call, &r->dcoll);
}

/* DRAIL_EAGAIN: it must wait until another call has ended. */
static int begin(struct request *r)
{
    int rc = dcoll_team_error(r->c->team);
    if (rc)
        return rc;
    if (r->skipped) {
        dcoll_team_skip(r->c->team);
        return 0;
    }
    const dcoll_call_t *call = request_call(r);
    rc = call ? begin_call(r, call) : begin_exchange(r);
    team_skip_refused(r->c, rc);
    return rc;
}

static void moved(struct request *r, int rc)
{
    progress_thread_end_call();
    if (r->skipped) {
        free(r);
        return;
    }
    r->rc = rc;
    atomic_store(&r->stage, STAGE_MOVED);
}

/* With the lock: begins waiting requests, as many as can. */
static void begin_waiting(struct request_queue *q)
{
    struct request *r;
    while ((r = TAILQ_FIRST(&q->waiting))) {
        int rc = begin(r);
        if (rc == DRAIL_EAGAIN)
            return;
        TAILQ_REMOVE(&q->waiting, r, link);
        if (rc || r->skipped) {
            moved(r, rc);
            continue;
        }
        atomic_store(&r->stage, STAGE_UNDER_WAY);
        TAILQ_INSERT_TAIL(&q->under_way, r, link);
    }
}

void queue_add(struct request_queue *q, struct request *r)
{
    r->stage = STAGE_WAITING;
    progress_thread_add_call();
    pthread_mutex_lock(&q->lock);
    TAILQ_INSERT_TAIL(&q->waiting, r, link);
    begin_waiting(q);
    queue_unlock(q);
}

void queue_settle(struct request_queue *q, struct request *r, int rc)
{
    TAILQ_REMOVE(&q->under_way, r, link);
    moved(r, rc);
}

void queue_advance(struct request_queue *q)
{
    struct request *r = TAILQ_FIRST(&q->under_way), *next;
    for (; r; r = next) {
        next = TAILQ_NEXT(r, link);
        int rc = dcoll_test(r->dcoll);
        if (rc != DRAIL_EAGAIN)
            queue_settle(q, r, rc);
    }
    begin_waiting(q);
}

void queues_advance(void)
{
    struct request_queue *q;
    pthread_mutex_lock(&all.lock);
    LIST_FOREACH(q, &all.comms, link)
    {
        if (pthread_mutex_trylock(&q->lock))
            continue;
        queue_advance(q);
        if (q->guarded)
            drail_progress(q->c->rail); /* its errors show in later calls */
        queue_unlock(q);
    }
    pthread_mutex_unlock(&all.lock);
}

/* ------------------------------------------------------ blocking calls --- */

void queue_lock_drained(struct request_queue *q)
{
    queue_lock(q);
    begin_waiting(q);
    while (!TAILQ_EMPTY(&q->waiting)) {
        queue_advance(q);
        queue_unlock(q); /* other threads may need it */
        layer_progress_below(q->c);
        sched_yield();
        queue_lock(q);
    }
}

void queue_meet(struct request_queue *q)
{
    const struct layer_comm *c = q->c;
    MPI_Request all_here;
    int done = 0;
    if (!layer.threads)
        return;
    queue_lock_drained(q);
    queue_unlock(q);
    if (pmpi.Ibarrier(c->inner, &all_here))
        return;
    while (!q->has_skipped && !pmpi.Test(&all_here, &done, MPI_STATUS_IGNORE) &&
           !done) {
        queue_lock(q);
        queue_advance(q);
        bool lost = drail_progress(c->rail) || dcoll_team_error(c->team);
        queue_unlock(q);
        if (lost) /* a rank that is dead does not come */
            return;
        sched_yield();
    }
}

int team_run(struct layer_comm *c, const dcoll_call_t *call)
{
    if (!c->queue)
        return dcoll_run(c->team, call);
    queue_lock_drained(c->queue);
    int rc = dcoll_run(c->team, call);
    queue_unlock(c->queue);
    return rc;
}

int team_exchange(struct layer_comm *c, const struct exchange *e)
{
    if (c->queue)
        queue_lock_drained(c->queue);
    int rc = e->of_neighbors
                 ? dcoll_neighbor_alltoallv(c->team, &e->among_neighbors)
                 : dcoll_alltoallv(c->team, &e->among_all);
    if (c->queue)
        queue_unlock(c->queue);
    return rc;
}

void team_skip(struct layer_comm *c)
{
    if (!c->queue) {
        dcoll_team_skip(c->team);
        return;
    }
    queue_lock_drained(c->queue);
    dcoll_team_skip(c->team);
    queue_unlock(c->queue);
}

static void end_team(const struct layer_comm *c, int code, const char *why)
{
    if (c->queue)
        pthread_mutex_lock(&c->queue->lock);
    dcoll_team_give_up(c->team, code, why);
    if (c->queue)
        queue_unlock(c->queue);
}

void team_give_up(const struct layer_comm *c, const char *why)
{
    end_team(c, DRAIL_EJOB, why);
}

void team_revoke(const struct layer_comm *c)
{
    end_team(c, REVOKED, "the communicator is revoked");
}
