/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests. All ranks make them together; each rank starts and frees
 * them when it likes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/requests/queue.h"
#include "mpi/run/run.h"

#define AGREED_LEAST 64 /* bytes; doubled, as libdcoll prepares each size */
/* Preparing a request costs what some starts of it save: */
#define UNPROVEN    8 /* requests are made in any case, more only … */
#define STARTS_EACH 8 /* … if each has been started so often, on average */

static void free_persistent(struct request_queue *q, struct request *r)
{
    TAILQ_REMOVE(&q->persistent, r, of_comm);
    if (r->check_comm != MPI_COMM_NULL)
        pmpi.Comm_free(&r->check_comm);
    request_destroy(r);
}

/* Bits on which the ranks agree (by AND): */
enum { BIT_CAN, BIT_PAYS, BIT_GIVEN_UP };

static bool has_bit(const unsigned char *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(unsigned char *bits, size_t i, bool set)
{
    bits[i / 8] |= (unsigned char)(set << i % 8);
}

/* A request is freed when all ranks have given it up. They tell each other when
 * the next one is made, by one bit for each request. */
static void free_given_up(struct request_queue *q, const unsigned char *said)
{
    struct request *r = TAILQ_FIRST(&q->persistent), *next;
    for (unsigned i = BIT_GIVEN_UP; r; r = next, i++) {
        next = TAILQ_NEXT(r, of_comm);
        if (!has_bit(said, i))
            continue;
        queue_lock_drained(q);
        dcoll_free(r->dcoll);
        queue_unlock(q);
        free_persistent(q, r);
    }
}

/* Of these bits. 0: they do not fit into the buffers. */
static size_t agreed_bytes(const struct request_queue *q)
{
    size_t bytes = AGREED_LEAST, bits = BIT_GIVEN_UP;
    const struct request *r;
    TAILQ_FOREACH(r, &q->persistent, of_comm)
    bits++;
    while (bytes < (bits + 7) / 8)
        bytes *= 2;
    return bytes <= BUFFER_LEAST ? bytes : 0;
}

static bool pays(const struct request_queue *q)
{
    return q->inits < UNPROVEN || q->starts / STARTS_EACH >= q->inits;
}

/* 0; DRAIL_ENOMEM, on all ranks: one of them can't; or another error. */
static int agree(struct request_queue *q, bool can)
{
    unsigned char *mine = q->c->send.data, *all = q->c->recv.data;
    size_t bytes = agreed_bytes(q), n = BIT_GIVEN_UP;
    const struct request *r;
    if (!bytes)
        return DRAIL_ENOMEM;
    memset(mine, 0, bytes);
    set_bit(mine, BIT_CAN, can);
    set_bit(mine, BIT_PAYS, pays(q));
    TAILQ_FOREACH(r, &q->persistent, of_comm)
    set_bit(mine, n++, r->given_up);
    int rc = team_allreduce(q->c, mine, all, bytes, DCOLL_UINT8, DCOLL_BAND);
    if (rc)
        return rc;
    free_given_up(q, all);
    q->seldom = !has_bit(all, BIT_PAYS);
    return has_bit(all, BIT_CAN) ? 0 : DRAIL_ENOMEM;
}

/* The bounds of all ranks; neighbours need none. DRAIL_ENOTSUP: no rank has any
 * bytes. */
static int bound(const struct request *r, struct exchange *e)
{
    unsigned long long mine[2], most[2];
    *e = *irregular_exchange(r->work.irregular);
    if (e->of_neighbors)
        return 0;
    irregular_bounds(r->c, r->work.irregular, &mine[0], &mine[1]);
    int rc =
        team_allreduce(r->c, mine, most, sizeof most, DCOLL_UINT64, DCOLL_MAX);
    if (rc)
        return rc;
    e->among_all.max_pair = (size_t)most[0];
    e->among_all.max_rank = (size_t)most[1];
    return most[1] ? 0 : DRAIL_ENOTSUP;
}

static int init_exchange(struct request *r, const struct exchange *e)
{
    dcoll_team_t *team = r->c->team;
    return e->of_neighbors
               ? dcoll_neighbor_alltoallv_init(team, &e->among_neighbors,
                                               &r->dcoll)
               : dcoll_alltoallv_init(team, &e->among_all, &r->dcoll);
}

static int init(struct request *r)
{
    struct layer_comm *c = r->c;
    struct exchange exchange;
    int rc = r->work.irregular ? irregular_agree(c, r->work.irregular) : 0;
    const dcoll_call_t *call = rc ? NULL : request_call(r);
    if (!rc && !call)
        rc = bound(r, &exchange);
    if (rc)
        return rc;
    queue_lock_drained(c->queue);
    rc = call ? dcoll_init(c->team, call, &r->dcoll)
              : init_exchange(r, &exchange);
    team_skip_refused(c, rc);
    queue_unlock(c->queue);
    return rc;
}

bool requests_start_seldom(const struct layer_comm *c)
{
    return c->queue && c->queue->seldom;
}

int request_init(struct layer_comm *c, const struct layer_call *a,
                 struct request_work *work, bool can, bool *taken,
                 MPI_Request *handle)
{
    struct request_queue *q = queue_of(c);
    struct request *r = can ? request_new(c, a->comm, *work) : NULL;
    *taken = false;
    if (q)
        queue_meet(q);
    int rc = q ? agree(q, r) : DRAIL_ENOMEM;
    if (!rc) {
        q->inits++;
        rc = init(r);
    }
    if (rc && r) {
        pmpi.Request_free(&r->handle);
        free(r);
    }
    if (rc)
        return rc == DRAIL_ENOMEM || rc == DRAIL_ENOTSUP ? MPI_SUCCESS
                                                         : request_error(c, rc);
    *taken = true;
    r->persistent = true;
    *handle = r->handle;
    handle_map_add(r);
    TAILQ_INSERT_TAIL(&q->persistent, r, of_comm);
    return layer.verify ? pmpi.Comm_dup(c->inner, &r->check_comm) : MPI_SUCCESS;
}

void request_init_skip(struct layer_comm *c)
{
    struct request_queue *q = queue_of(c);
    if (!q)
        return;
    q->has_skipped = true;
    queue_meet(q);
    team_skip(c);
}

/* Starts have no order, so other ranks do not notice a missing one: they are
 * told. */
static int start(struct request *r)
{
    dcoll_team_t *team = r->c->team;
    drail_error_t error = {.text = ""};
    int rc = dcoll_start(r->dcoll);
    if (!rc || dcoll_team_error(team))
        return rc;
    snprintf(error.text, sizeof error.text, "%s", dcoll_last_error(team));
    dcoll_team_give_up(team, DRAIL_EJOB, error.text);
    return rc;
}

int request_start(struct request *r)
{
    struct request_queue *q = r->c->queue;
    if (!r->persistent || r->stage != STAGE_IDLE) {
        pmpi.Comm_call_errhandler(r->comm, MPI_ERR_REQUEST);
        return MPI_ERR_REQUEST;
    }
    int rc = request_pack(r);
    if (!rc && layer.verify)
        rc = request_begin_check(r);
    if (rc) {
        team_call_missed(r->c, rc);
        pmpi.Comm_call_errhandler(r->comm, rc);
        return rc;
    }
    progress_thread_add_call();
    queue_lock(q);
    atomic_store(&r->stage, STAGE_UNDER_WAY);
    TAILQ_INSERT_TAIL(&q->under_way, r, link);
    rc = start(r);
    q->starts++;
    if (rc)
        queue_settle(q, r, rc);
    queue_unlock(q);
    return MPI_SUCCESS;
}

int request_free(struct request *r, MPI_Request *handle)
{
    int error = MPI_SUCCESS;
    bool persistent = r->persistent;
    request_wait(r);
    if (request_is_active(r))
        error = request_finish(r, handle);
    if (!persistent)
        return error;
    queue_lock(r->c->queue);
    dcoll_let_go(r->dcoll);
    queue_unlock(r->c->queue);
    MPI_Request below = r->handle;
    handle_map_remove(r); /* from now on another thread may end it, and c */
    pmpi.Request_free(&below);
    *handle = MPI_REQUEST_NULL;
    return error;
}

/* ------------------------------------------------- communicators' ends --- */

void requests_detach(struct layer_comm *c)
{
    handle_map_detach(c);
}

/* Waiting ones include skipped calls, which have no handle. */
bool requests_are_left(struct layer_comm *c)
{
    struct request_queue *q = c->queue;
    if (!q)
        return false;
    queue_lock(q);
    queue_advance(q);
    bool busy = !TAILQ_EMPTY(&q->waiting) || !TAILQ_EMPTY(&q->under_way);
    queue_unlock(q);
    return busy || handle_map_has(c);
}

/* The program may free a request from within MPI_Finalize later: its handle is
 * by then an ordinary request of the MPI below. */
void requests_end(struct layer_comm *c)
{
    struct request_queue *q = c->queue;
    struct request *r;
    if (!q)
        return;
    queue_leave(q);
    while ((r = TAILQ_FIRST(&q->persistent))) {
        if (!r->given_up)
            handle_map_remove(r);
        free_persistent(q, r);
    }
    for (unsigned i = 0; i < MISSED_KEPT; i++)
        free(q->missed[i].counts);
    free(q);
    c->queue = NULL;
}
