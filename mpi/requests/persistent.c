/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests. All ranks make them together, and start and free them as
 * they like. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi/requests/queue.h"

#define AGREED_LEAST 64 /* bytes: of few sizes, each of which is prepared */
/* To prepare one costs as much as it saves in some starts: */
#define UNPROVEN    8 /* that are made whatever comes of them; then only … */
#define STARTS_EACH 8 /* … while those before have been started so often */

static void free_persistent(struct requests *s, struct request *r)
{
    TAILQ_REMOVE(&s->persistent, r, of_comm);
    if (r->apart != MPI_COMM_NULL)
        pmpi.Comm_free(&r->apart);
    request_destroy(r);
}

/* Bits that ranks tell each other: */
enum { BIT_CAN, BIT_PAYS, BIT_GIVEN_UP };

static bool has_bit(const unsigned char *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void set_bit(unsigned char *bits, size_t i, bool set)
{
    bits[i / 8] |= (unsigned char)(set << i % 8);
}

/* Who has given one up does not know whether the others have: they tell each
 * other when the next one is made, by one bit for each that there is. */
static void free_given_up(struct requests *s, const unsigned char *said)
{
    struct request *r = TAILQ_FIRST(&s->persistent), *next;
    for (unsigned i = BIT_GIVEN_UP; r; r = next, i++) {
        next = TAILQ_NEXT(r, of_comm);
        if (!has_bit(said, i))
            continue;
        team_take(s);
        dcoll_free(r->q);
        team_give(s);
        free_persistent(s, r);
    }
}

/* Of what this rank says; 0: that is more than all have room for. */
static size_t agreed_bytes(const struct requests *s)
{
    size_t bytes = AGREED_LEAST, bits = BIT_GIVEN_UP;
    const struct request *r;
    TAILQ_FOREACH(r, &s->persistent, of_comm)
    bits++;
    while (bytes < (bits + 7) / 8)
        bytes *= 2;
    return bytes <= ROOM_LEAST ? bytes : 0;
}

static bool pays(const struct requests *s)
{
    return s->inits < UNPROVEN || s->starts / STARTS_EACH >= s->inits;
}

/* DRAIL_ENOMEM: one of the ranks can't. */
static int agree(struct requests *s, bool can)
{
    unsigned char *mine = s->c->send.data, *all = s->c->recv.data;
    size_t bytes = agreed_bytes(s), n = BIT_GIVEN_UP;
    const struct request *r;
    if (!bytes)
        return DRAIL_ENOMEM;
    memset(mine, 0, bytes);
    set_bit(mine, BIT_CAN, can);
    set_bit(mine, BIT_PAYS, pays(s));
    TAILQ_FOREACH(r, &s->persistent, of_comm)
    set_bit(mine, n++, r->given_up);
    int rc = ours_combine(s->c, mine, all, bytes, DCOLL_UINT8, DCOLL_BAND);
    if (rc)
        return rc;
    free_given_up(s, all);
    s->seldom = !has_bit(all, BIT_PAYS);
    return has_bit(all, BIT_CAN) ? 0 : DRAIL_ENOMEM;
}

/* 0, DRAIL_ENOTSUP: nobody has any bytes; or an error. */
static int bound(const struct request *r, dcoll_alltoallv_t *call)
{
    unsigned long long mine[2], most[2];
    irregular_bounds(r->c, r->work.irregular, &mine[0], &mine[1]);
    int rc =
        ours_combine(r->c, mine, most, sizeof most, DCOLL_UINT64, DCOLL_MAX);
    if (rc)
        return rc;
    *call = *irregular_call(r->work.irregular);
    call->max_pair = (size_t)most[0];
    call->max_rank = (size_t)most[1];
    return most[1] ? 0 : DRAIL_ENOTSUP;
}

static int init(struct request *r)
{
    struct layer_comm *c = r->c;
    dcoll_alltoallv_t call;
    int rc = r->work.irregular ? bound(r, &call) : 0;
    if (rc)
        return rc;
    team_take(c->requests);
    if (r->work.irregular)
        rc = dcoll_alltoallv_init(c->team, &call, &r->q);
    else
        rc = dcoll_init(c->team, ours_call(r->work.ours), &r->q);
    team_refused(c, rc);
    team_give(c->requests);
    return rc;
}

bool requests_start_seldom(const struct layer_comm *c)
{
    return c->requests && c->requests->seldom;
}

int request_init(struct layer_comm *c, const struct layer_call *a,
                 struct request_work *work, bool can, bool *taken,
                 MPI_Request *handle)
{
    struct requests *s = requests_of(c);
    struct request *r = can ? request_new(c, a->comm, *work) : NULL;
    int rc = s ? agree(s, r) : DRAIL_ENOMEM;
    *taken = false;
    if (!rc) {
        s->inits++;
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
    handle_enter(r);
    TAILQ_INSERT_TAIL(&s->persistent, r, of_comm);
    return layer.verify ? pmpi.Comm_dup(c->inner, &r->apart) : MPI_SUCCESS;
}

/* Starts have no order, so the others compare nothing: they hear of it. */
static int start(struct request *r)
{
    dcoll_team_t *team = r->c->team;
    drail_error_t error = {.text = ""};
    int rc = dcoll_start(r->q);
    if (!rc || dcoll_team_error(team))
        return rc;
    snprintf(error.text, sizeof error.text, "%s", dcoll_last_error(team));
    dcoll_team_give_up(team, DRAIL_EJOB, error.text);
    return rc;
}

int request_start(struct request *r)
{
    struct requests *s = r->c->requests;
    if (!r->persistent || r->stage != STAGE_IDLE) {
        pmpi.Comm_call_errhandler(r->comm, MPI_ERR_REQUEST);
        return MPI_ERR_REQUEST;
    }
    int rc = request_fill(r);
    if (!rc && layer.verify)
        rc = request_begin_check(r);
    if (rc) {
        ours_missing(r->c, rc);
        pmpi.Comm_call_errhandler(r->comm, rc);
        return rc;
    }
    pulse_more();
    team_take_now(s);
    atomic_store(&r->stage, STAGE_UNDER_WAY);
    TAILQ_INSERT_TAIL(&s->under_way, r, link);
    rc = start(r);
    s->starts++;
    if (rc)
        team_settle(s, r, rc);
    team_give(s);
    return MPI_SUCCESS;
}

int request_give_up(struct request *r, MPI_Request *handle)
{
    int error = MPI_SUCCESS;
    bool persistent = r->persistent;
    request_wait(r);
    if (request_is_active(r))
        error = request_take(r, handle);
    if (!persistent)
        return error;
    handle_leave(r);
    pmpi.Request_free(&r->handle);
    *handle = MPI_REQUEST_NULL;
    team_take_now(r->c->requests);
    dcoll_let_go(r->q);
    team_give(r->c->requests);
    r->given_up = true;
    return error;
}

/* ------------------------------------------------- communicators' ends --- */

/* Whose handler is told of errors then. */
void requests_detach(struct layer_comm *c)
{
    struct request *r = NULL;
    while ((r = handle_next(c, r)))
        r->comm = MPI_COMM_SELF;
}

/* Also calls that this rank has skipped, which are nobody's requests. */
bool requests_are_left(struct layer_comm *c)
{
    struct requests *s = c->requests;
    if (!s)
        return false;
    team_take_now(s);
    team_advance(s);
    bool busy = !TAILQ_EMPTY(&s->queue) || !TAILQ_EMPTY(&s->under_way);
    team_give(s);
    return busy || handle_next(c, NULL);
}

/* The program may free what it has left from within MPI_Finalize: that is a
 * request of the MPI below then. */
void requests_end(struct layer_comm *c)
{
    struct requests *s = c->requests;
    struct request *r;
    if (!s)
        return;
    team_leave(s);
    while ((r = TAILQ_FIRST(&s->persistent))) {
        if (!r->given_up)
            handle_leave(r);
        free_persistent(s, r);
    }
    free(s);
    c->requests = NULL;
}
