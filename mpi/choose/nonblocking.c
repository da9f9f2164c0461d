/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that do not block: which side makes them. */
#include "mpi/below/below.h"
#include "mpi/choose/choose.h"
#include "mpi/requests/requests.h"
#include "mpi/run/run.h"

static void count(enum layer_form form, const struct layer_call *a,
                  enum layer_reason reason)
{
    layer.forms[form][a->collective][reason]++;
}

/* An error of this rank alone. */
static int fail(const struct layer_call *a, int error)
{
    pmpi.Comm_call_errhandler(a->comm, error);
    return error;
}

static int open_work(const struct layer_comm *c, const struct layer_call *a,
                     int64_t bytes, bool counted, struct request_work *work)
{
    *work = (struct request_work){0};
    return layer_is_irregular(a->collective)
               ? irregular_open(c, a, counted, &work->irregular)
               : regular_open(c, a, (size_t)bytes, &work->regular);
}

/* Does an error of open_work mean wrong arguments? Else the rank has no memory,
 * or a block of a call with different blocks is too long. */
static bool is_wrong(const struct layer_call *a, int error)
{
    const bool too_long =
        error == MPI_ERR_COUNT && layer_is_irregular(a->collective);
    return error && error != MPI_ERR_NO_MEM && !too_long;
}

/* Reductions that round are left, unless libdcoll makes all calls: time
 * measurements decide when it could take them, but must not change their bits.
 * So are those that need MPI_Reduce_local: the progress thread must not call
 * MPI. */
static enum layer_reason judge(struct layer_comm *c, const struct layer_call *a,
                               int64_t *bytes)
{
    if (layer.intercepted)
        return LAYER_INTERCEPTED;
    enum layer_reason reason = layer_judge(c, a, bytes);
    if (reason != LAYER_TAKEN)
        return reason;
    if (reduce_rounds(a) && !layer.always)
        return LAYER_INEXACT;
    if (c->deferred)
        return LAYER_EARLY;
    bool below = layer_reduces(a->collective) && !reduce_basic(a);
    return below ? LAYER_TYPE : LAYER_TAKEN;
}

/* A lost team fails the call, so that the program hears of it. If only the team
 * of blocking calls is lost, other ranks may not know it: then it decides
 * nothing here, unless a rank is dead. */
static bool may_leave(struct layer_comm *c)
{
    const struct layer_comm *served = request_team(c);
    return !layer.always && !(served && team_is_lost(served)) &&
           dcoll_team_error(c->team) != DRAIL_EPEER;
}

/* A non-blocking call must not make a team, which waits for other ranks. It
 * does not time the sides, but uses the trials of blocking calls. */
static enum layer_reason judge_begin(struct layer_comm *c,
                                     const struct layer_call *a, int64_t *bytes)
{
    if (!c)
        return layer_is_off() || a->comm == MPI_COMM_NULL ? LAYER_NO_TEAM
                                                          : LAYER_UNPREPARED;
    enum layer_reason reason = judge(c, a, bytes);
    /* a rank can't know whether a block of another one is long */
    if (reason == LAYER_TAKEN && layer_exchanges_in_place(a))
        return LAYER_IN_PLACE;
    if (reason == LAYER_TAKEN && may_leave(c) &&
        !trials_prefer_dcoll(layer_trials(c, a, *bytes)))
        return LAYER_SLOWER;
    return reason;
}

/* The one whose team would make the call. NULL: the MPI below makes it. */
static struct layer_comm *serving(struct layer_comm *c,
                                  enum layer_reason *reason)
{
    if (!c)
        return NULL;
    request_team_want(c);
    struct layer_comm *served = request_team(c);
    if (!served && *reason == LAYER_TAKEN)
        *reason = c->lacks_request_team ? LAYER_NO_TEAM : LAYER_UNPREPARED;
    return served;
}

int layer_begin(const struct layer_call *a, MPI_Request *request)
{
    struct request_work work;
    int64_t bytes = 0;
    bool counted = false;
    layer_setup();
    struct layer_comm *of = layer_is_off() ? NULL : layer_comm_find(a->comm);
    enum layer_reason reason = judge_begin(of, a, &bytes);
    struct layer_comm *c = serving(of, &reason);
    int rc =
        reason == LAYER_TAKEN ? requests_may_begin(c, a, bytes, &counted) : 0;
    if (rc == DRAIL_ENOTSUP)
        reason = LAYER_UNPREPARED;
    else if (rc)
        return fail(a, request_error(c, rc));
    count(FORM_NONBLOCKING, a, reason);
    if (reason == LAYER_WRONG && of->team) {
        if (c)
            requests_skip(c);
        if (layer_has_negative(of, a))
            return fail(a, MPI_ERR_COUNT); /* as blocking.c's refuse() */
    }
    if (reason != LAYER_TAKEN)
        return below_begin(a, request);
    rc = open_work(c, a, bytes, counted, &work);
    if (!rc)
        rc = request_begin(c, a, work, request);
    return rc ? fail(a, team_call_missed(c, rc)) : MPI_SUCCESS;
}

/* MPI_..._init is collective and may block: it prepares what earlier calls have
 * missed, and may make a team (DCOLL_MPI=eager). */
static enum layer_reason judge_init(struct layer_comm *c,
                                    const struct layer_call *a, int64_t *bytes)
{
    if (!c)
        return LAYER_NO_TEAM;
    request_team_want(c);
    requests_prepare(c);
    const struct layer_comm *served = request_team(c);
    enum layer_reason reason = judge(c, a, bytes);
    if (reason == LAYER_TAKEN && may_leave(c) &&
        ((served && requests_start_seldom(served)) ||
         !trials_prefer_dcoll(layer_trials(c, a, *bytes))))
        return LAYER_SLOWER;
    return reason;
}

int layer_init(const struct layer_call *a, MPI_Info info, MPI_Request *request)
{
    struct request_work work;
    int64_t bytes = 0;
    bool taken = false;
    layer_setup();
    struct layer_comm *of = layer_is_off() ? NULL : layer_comm_get(a->comm);
    enum layer_reason reason = judge_init(of, a, &bytes);
    struct layer_comm *c = serving(of, &reason);
    if (reason == LAYER_TAKEN) {
        double came = layer_now();
        int rc = open_work(c, a, bytes, false, &work);
        if (is_wrong(a, rc)) {
            request_init_skip(c);
            return fail(a, rc);
        }
        bool can =
            !rc && !(work.irregular && irregular_has_long(work.irregular));
        rc = request_init(c, a, &work, can, &taken, request);
        of->spent += layer_now() - came;
        if (!taken)
            request_work_free(&work);
        if (rc)
            return fail(a, rc);
    }
    if (reason == LAYER_TAKEN && !taken)
        reason = LAYER_MEMORY;
    count(FORM_PERSISTENT, a, reason);
    if (reason == LAYER_WRONG && c && c->team) {
        request_init_skip(c);
        if (layer_has_negative(of, a))
            return fail(a, MPI_ERR_COUNT);
    }
    return taken ? MPI_SUCCESS : below_init(a, info, request);
}
