/* SPDX-License-Identifier: BSD-3-Clause */
/* A request of libdcoll, from its start until the program gets its result. */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/below/below.h"
#include "mpi/requests/queue.h"
#include "mpi/run/run.h"

#define YIELD_AFTER 16 /* looks */
#define NAP_AFTER   4096
#define NAP_NS      50000

int request_error(const struct layer_comm *c, int rc)
{
    int error = team_error_code(c, rc);
    return error == LEFT_TO_MPI ? MPI_ERR_NO_MEM : error;
}

void request_work_free(struct request_work *work)
{
    if (work->regular)
        regular_close(work->regular);
    if (work->irregular)
        irregular_close(work->irregular);
    *work = (struct request_work){0};
}

const dcoll_call_t *request_call(const struct request *r)
{
    return r->work.regular ? regular_call(r->work.regular)
                           : irregular_counted(r->work.irregular);
}

int request_pack(struct request *r)
{
    return r->work.regular ? regular_pack(r->c, r->work.regular)
                           : irregular_pack(r->c, r->work.irregular);
}

static int unpack(struct request *r)
{
    return r->work.regular ? regular_unpack(r->c, r->work.regular)
                           : irregular_unpack(r->c, r->work.irregular);
}

static void compare(struct request *r)
{
    if (r->work.regular)
        regular_compare(r->c, r->work.regular);
    else
        irregular_compare(r->c, r->work.irregular);
}

/* --------------------------------------------------------------- begin --- */

struct request *request_new(struct layer_comm *c, MPI_Comm comm,
                            struct request_work work)
{
    struct request *r = calloc(1, sizeof *r);
    if (!r ||
        pmpi.Recv_init(NULL, 0, MPI_BYTE, 0, 0, MPI_COMM_SELF, &r->handle)) {
        free(r);
        return NULL;
    }
    r->c = c;
    r->comm = comm;
    r->work = work;
    r->check = MPI_REQUEST_NULL;
    r->check_comm = MPI_COMM_NULL;
    return r;
}

void request_destroy(struct request *r)
{
    request_work_free(&r->work);
    free(r);
}

int request_begin_check(struct request *r)
{
    MPI_Comm comm = r->persistent ? r->check_comm : r->c->inner;
    struct layer_call below;
    if (r->work.irregular)
        return irregular_begin_check(r->c, r->work.irregular, comm);
    int rc = regular_expect(r->c, r->work.regular, &below);
    below.comm = comm;
    return rc ? rc : below_begin(&below, &r->check);
}

int request_begin(struct layer_comm *c, const struct layer_call *a,
                  struct request_work work, MPI_Request *handle)
{
    struct request *r = request_new(c, a->comm, work);
    if (!r) {
        request_work_free(&work);
        return MPI_ERR_NO_MEM;
    }
    int rc = layer.verify ? request_begin_check(r) : MPI_SUCCESS;
    if (!rc && work.irregular)
        rc = irregular_begin_long(c, work.irregular);
    if (rc) {
        pmpi.Request_free(&r->handle);
        request_destroy(r);
        return rc;
    }
    *handle = r->handle;
    handle_map_add(r);
    queue_add(c->queue, r);
    return MPI_SUCCESS;
}

/* It may not wait until earlier calls have begun, so it queues behind them. */
void requests_skip(struct layer_comm *c)
{
    struct request *r = c->queue ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        team_skip(c);
        return;
    }
    r->c = c;
    r->skipped = true;
    queue_add(c->queue, r);
}

/* ------------------------------------------------------------- the end --- */

bool request_is_active(const struct request *r)
{
    return r->stage != STAGE_IDLE;
}

/* The part that calls MPI: by a thread of the program, when libdcoll is done.
 * Long blocks and the call of verify must be complete, too. */
static void complete(struct request *r)
{
    bool checked = layer.verify && !r->rc;
    int done = 1;
    if (r->work.irregular && !r->rc && !r->error)
        r->error = irregular_test_long(r->work.irregular, &done);
    if (done && checked && r->work.regular && !r->error)
        r->error = pmpi.Test(&r->check, &done, MPI_STATUS_IGNORE);
    if (!done)
        return;
    if (r->rc)
        r->error = request_error(r->c, r->rc);
    if (!r->error && checked)
        compare(r);
    if (!r->error)
        r->error = unpack(r);
    if (!r->persistent)
        request_work_free(&r->work);
    r->stage = STAGE_DONE;
}

bool request_is_done(struct request *r)
{
    int stage = atomic_load(&r->stage);
    if (stage == STAGE_WAITING || stage == STAGE_UNDER_WAY) {
        queue_lock(r->c->queue);
        queue_advance(r->c->queue);
        queue_unlock(r->c->queue);
    }
    if (r->stage == STAGE_MOVED)
        complete(r);
    return r->stage == STAGE_DONE || r->stage == STAGE_IDLE;
}

void request_pause(struct request *r, unsigned *looks)
{
    const struct timespec nap = {.tv_nsec = NAP_NS};
    layer_progress_below(r->c);
    if (++*looks > NAP_AFTER)
        nanosleep(&nap, NULL);
    else if (*looks > YIELD_AFTER)
        sched_yield();
}

/* dcoll_wait sleeps, unlike polling. Not while other calls wait to begin, nor
 * if another thread may wait for another request meanwhile. */
static void wait_by_team(struct request *r)
{
    struct request_queue *q = r->c->queue;
    if (layer.threads)
        return;
    queue_lock(q);
    if (r->stage == STAGE_UNDER_WAY && TAILQ_EMPTY(&q->waiting))
        queue_settle(q, r, dcoll_wait(r->dcoll, -1));
    queue_unlock(q);
}

void request_wait(struct request *r)
{
    unsigned looks = 0;
    while (!request_is_done(r)) {
        wait_by_team(r);
        if (!request_is_done(r))
            request_pause(r, &looks);
    }
}

int request_finish(struct request *r, MPI_Request *handle)
{
    int error = r->error;
    r->error = MPI_SUCCESS;
    if (error)
        pmpi.Comm_call_errhandler(r->comm, error);
    if (r->persistent) {
        r->stage = STAGE_IDLE;
        return error;
    }
    handle_map_remove(r);
    pmpi.Request_free(&r->handle);
    *handle = MPI_REQUEST_NULL;
    request_destroy(r);
    return error;
}
