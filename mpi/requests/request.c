/* SPDX-License-Identifier: BSD-3-Clause */
/* From a call that does not block to what the program is told of it. */
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/requests/queue.h"

#define YIELD_AFTER 16 /* looks */
#define NAP_AFTER   4096
#define NAP_NS      50000

int request_error(const struct layer_comm *c, int rc)
{
    int error = ours_error(c, rc);
    return error == OURS_LEFT ? MPI_ERR_NO_MEM : error;
}

void request_work_free(struct request_work *work)
{
    if (work->ours)
        ours_close(work->ours);
    if (work->irregular)
        irregular_close(work->irregular);
    *work = (struct request_work){0};
}

int request_fill(struct request *r)
{
    return r->work.ours ? ours_fill(r->c, r->work.ours)
                        : irregular_fill(r->c, r->work.irregular);
}

static int spread(struct request *r)
{
    return r->work.ours ? ours_spread(r->c, r->work.ours)
                        : irregular_spread(r->c, r->work.irregular);
}

static int expect(struct request *r, struct layer_call *below)
{
    return r->work.ours ? ours_expect(r->c, r->work.ours, below)
                        : irregular_expect(r->c, r->work.irregular, below);
}

static void compare(struct request *r)
{
    if (r->work.ours)
        ours_compare(r->c, r->work.ours);
    else
        irregular_compare(r->c, r->work.irregular);
}

/* --------------------------------------------------------------- begin --- */

/* Its handle is a request that never starts. NULL: no memory. */
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
    r->apart = MPI_COMM_NULL;
    return r;
}

void request_destroy(struct request *r)
{
    request_work_free(&r->work);
    free(r);
}

/* verify: the same by the MPI below. */
int request_begin_check(struct request *r)
{
    struct layer_call below;
    int rc = expect(r, &below);
    if (r->persistent)
        below.comm = r->apart;
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
    handle_enter(r);
    team_queue(c->requests, r);
    return MPI_SUCCESS;
}

/* Behind what is queued, for which it may not wait. */
void requests_skip(struct layer_comm *c)
{
    struct request *r = c->requests ? calloc(1, sizeof *r) : NULL;
    if (!r) {
        team_skip(c);
        return;
    }
    r->c = c;
    r->skipped = true;
    team_queue(c->requests, r);
}

/* ------------------------------------------------------------- the end --- */

bool request_is_active(const struct request *r)
{
    return r->stage != STAGE_IDLE;
}

/* What the program's thread has to do when data have come. verify: when those
 * of the MPI below have, too. */
static void complete(struct request *r)
{
    bool checked = r->check != MPI_REQUEST_NULL && !r->rc;
    int done = 1;
    if (r->work.irregular && !r->rc && !r->error)
        r->error = irregular_test_long(r->work.irregular, &done);
    if (done && checked && !r->error)
        r->error = pmpi.Test(&r->check, &done, MPI_STATUS_IGNORE);
    if (!done)
        return;
    if (r->rc)
        r->error = request_error(r->c, r->rc);
    if (!r->error && checked)
        compare(r);
    if (!r->error)
        r->error = spread(r);
    if (!r->persistent)
        request_work_free(&r->work);
    r->stage = STAGE_DONE;
}

bool request_is_done(struct request *r)
{
    int stage = atomic_load(&r->stage);
    if (stage == STAGE_QUEUED || stage == STAGE_UNDER_WAY) {
        team_take_now(r->c->requests);
        team_advance(r->c->requests);
        team_give(r->c->requests);
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

/* libdcoll waits best, unless another has yet to be begun. */
static void wait_by_team(struct request *r)
{
    struct requests *s = r->c->requests;
    team_take_now(s);
    if (r->stage == STAGE_UNDER_WAY && TAILQ_EMPTY(&s->queue))
        team_settle(s, r, dcoll_wait(r->q, -1));
    team_give(s);
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

int request_take(struct request *r, MPI_Request *handle)
{
    int error = r->error;
    r->error = MPI_SUCCESS;
    if (error)
        pmpi.Comm_call_errhandler(r->comm, error);
    if (r->persistent) {
        r->stage = STAGE_IDLE;
        return error;
    }
    handle_leave(r);
    pmpi.Request_free(&r->handle);
    *handle = MPI_REQUEST_NULL;
    request_destroy(r);
    return error;
}
