/* SPDX-License-Identifier: BSD-3-Clause */
/* Persistent requests. All ranks make them together, and start and free them as
 * they like. */
#include <stdlib.h>
#include <string.h>

#include "request.h"

#define AGREED_BYTES 64 /* without memory for more */

static void free_persistent(struct requests *s, struct request *r)
{
    TAILQ_REMOVE(&s->persistent, r, of_comm);
    if (r->apart != MPI_COMM_NULL)
        PMPI_Comm_free(&r->apart);
    request_destroy(r);
}

/* Who has given one up does not know whether the others have: they tell each
 * other when the next one is made. @said: bit 0 that all can, then one for each
 * that there is. */
static void free_given_up(struct requests *s, const unsigned char *said)
{
    struct request *r = TAILQ_FIRST(&s->persistent), *next;
    for (unsigned i = 1; r; r = next, i++) {
        next = TAILQ_NEXT(r, of_comm);
        if (!(said[i / 8] >> i % 8 & 1))
            continue;
        team_take(s);
        dcoll_free(r->q);
        team_give(s);
        free_persistent(s, r);
    }
}

/* Can all ranks? */
static bool agree(struct requests *s, bool can)
{
    struct layer_comm *c = s->c;
    struct layer_room more = {0};
    unsigned char few[AGREED_BYTES] = {0}, *said = few;
    struct request *r;
    size_t n = 1;
    TAILQ_FOREACH(r, &s->persistent, of_comm)
    n++;
    size_t bytes = (n + 7) / 8;
    if (bytes > sizeof few) {
        said = layer_room(&more, bytes);
        if (!said) {
            team_no_memory(c);
            return false;
        }
        memset(said, 0, bytes);
    }
    said[0] = can;
    n = 1;
    TAILQ_FOREACH(r, &s->persistent, of_comm)
    {
        said[n / 8] |= (unsigned char)(r->given_up << n % 8);
        n++;
    }
    bool good = !PMPI_Allreduce(MPI_IN_PLACE, said, (int)bytes, MPI_BYTE,
                                MPI_BAND, c->inner);
    if (good)
        free_given_up(s, said);
    good = good && said[0] & 1;
    free(more.data);
    return good;
}

/* 0, DRAIL_ENOTSUP: nobody has any bytes; or an error. */
static int init_irregular(struct request *r)
{
    struct layer_comm *c = r->c;
    unsigned long long most[2];
    irregular_bounds(c, r->work.irregular, &most[0], &most[1]);
    if (PMPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_UNSIGNED_LONG_LONG, MPI_MAX,
                       c->inner))
        return DRAIL_EPEER;
    if (!most[1])
        return DRAIL_ENOTSUP;
    dcoll_alltoallv_t call = *irregular_call(r->work.irregular);
    call.max_pair = (size_t)most[0];
    call.max_rank = (size_t)most[1];
    team_take(c->requests);
    int rc = dcoll_alltoallv_init(c->team, &call, &r->q);
    team_give(c->requests);
    return rc;
}

static int init(struct request *r)
{
    struct layer_comm *c = r->c;
    if (r->work.irregular)
        return init_irregular(r);
    team_take(c->requests);
    int rc = dcoll_init(c->team, ours_call(r->work.ours), &r->q);
    team_give(c->requests);
    return rc;
}

int request_init(struct layer_comm *c, const struct layer_call *a,
                 struct request_work *work, bool can, bool *taken,
                 MPI_Request *handle)
{
    struct requests *s = requests_of(c);
    struct request *r = can ? request_new(c, a->comm, *work) : NULL;
    int rc = DRAIL_ENOMEM;
    *taken = false;
    if (s && agree(s, r)) {
        s->inits++;
        rc = init(r);
    }
    if (rc && r) {
        PMPI_Request_free(&r->handle);
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
    return layer.verify ? PMPI_Comm_dup(c->inner, &r->apart) : MPI_SUCCESS;
}

int request_start(struct request *r)
{
    struct requests *s = r->c->requests;
    if (!r->persistent || r->stage != STAGE_IDLE)
        return MPI_ERR_REQUEST;
    int rc = request_fill(r);
    if (!rc && layer.verify)
        rc = request_begin_check(r);
    if (rc) {
        ours_missing(r->c, rc);
        PMPI_Comm_call_errhandler(r->comm, rc);
        return rc;
    }
    pulse_more();
    team_take_now(s);
    atomic_store(&r->stage, STAGE_UNDER_WAY);
    TAILQ_INSERT_TAIL(&s->under_way, r, link);
    rc = dcoll_start(r->q);
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
    PMPI_Request_free(&r->handle);
    *handle = MPI_REQUEST_NULL;
    team_take_now(r->c->requests);
    dcoll_let_go(r->q);
    team_give(r->c->requests);
    r->given_up = true;
    return error;
}

/* ------------------------------------------------- communicators' ends --- */

/* Of a communicator that is to be freed: errors are told elsewhere. */
static void complete_of(struct layer_comm *c)
{
    struct request *r = NULL;
    while ((r = handle_next(c, r))) {
        if (r->comm == MPI_COMM_SELF) /* of another one, that was here */
            continue;
        if (!r->persistent)
            request_wait(r);
        r->comm = MPI_COMM_SELF;
    }
}

bool requests_are_left(struct layer_comm *c)
{
    int left = 0;
    struct request *r;
    if (!c->requests)
        return false;
    complete_of(c);
    TAILQ_FOREACH(r, &c->requests->persistent, of_comm)
    left |= !r->given_up;
    if (!c->requests->inits)
        return false;
    return PMPI_Allreduce(MPI_IN_PLACE, &left, 1, MPI_INT, MPI_MAX, c->inner) ||
           left;
}

void requests_end(struct layer_comm *c)
{
    struct requests *s = c->requests;
    struct request *r;
    if (!s)
        return;
    team_leave(s);
    while ((r = TAILQ_FIRST(&s->persistent))) {
        if (!r->given_up) {
            handle_leave(r);
            PMPI_Request_free(&r->handle);
        }
        free_persistent(s, r);
    }
    free(s);
    c->requests = NULL;
}
