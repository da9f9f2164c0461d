/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose call it is that does not block. */
#include "mpi/requests/requests.h"

static void count(enum layer_form form, const struct layer_call *a,
                  enum layer_reason reason)
{
    layer.forms[form][a->collective][reason]++;
}

/* This rank's alone. */
static int fail(const struct layer_call *a, int error)
{
    pmpi.Comm_call_errhandler(a->comm, error);
    return error;
}

static int open_work(const struct layer_comm *c, const struct layer_call *a,
                     int64_t bytes, struct request_work *work)
{
    *work = (struct request_work){0};
    return layer_is_irregular(a->collective)
               ? irregular_open(c, a, &work->irregular)
               : ours_open(c, a, (size_t)bytes, &work->ours);
}

/* What the thread of pulse.c may do calls nothing of MPI. */
static enum layer_reason judge(struct layer_comm *c, const struct layer_call *a,
                               int64_t *bytes)
{
    if (layer.completed_elsewhere)
        return LAYER_AHEAD;
    enum layer_reason reason = layer_judge(c, a, bytes);
    if (reason == LAYER_TAKEN && c->deferred)
        return LAYER_EARLY;
    bool below = dcoll_collective_reduces(a->collective) && !reduce_basic(a);
    return reason == LAYER_TAKEN && below ? LAYER_TYPE : reason;
}

/* What is lost is made by nobody, whoever is faster. */
static bool may_leave(const struct layer_comm *c)
{
    return !layer.always && !ours_is_lost(c);
}

/* It may make no team, for which it would wait for others; nor does it know who
 * is faster before blocking calls have shown that. */
static enum layer_reason judge_begin(struct layer_comm *c,
                                     const struct layer_call *a, int64_t *bytes)
{
    if (!c)
        return layer_is_off() || a->comm == MPI_COMM_NULL ? LAYER_COMM
                                                          : LAYER_LATER;
    enum layer_reason reason = judge(c, a, bytes);
    if (reason == LAYER_TAKEN && may_leave(c) &&
        !contest_is_won(layer_contest(c, a, *bytes)))
        return LAYER_SLOWER;
    return reason;
}

int start_call(const struct layer_call *a, MPI_Request *request)
{
    struct request_work work;
    int64_t bytes = 0;
    layer_begin();
    struct layer_comm *c = layer_is_off() ? NULL : layer_comm_known(a->comm);
    enum layer_reason reason = judge_begin(c, a, &bytes);
    int rc = reason == LAYER_TAKEN ? requests_may_begin(c, a, bytes) : 0;
    if (rc == DRAIL_ENOTSUP)
        reason = LAYER_LATER;
    else if (rc)
        return fail(a, request_error(c, rc));
    count(FORM_BEGIN, a, reason);
    if (reason == LAYER_WRONG && c->team)
        requests_skip(c);
    if (reason != LAYER_TAKEN)
        return below_begin(a, request);
    rc = open_work(c, a, bytes, &work);
    if (!rc)
        rc = request_begin(c, a, work, request);
    return rc ? fail(a, ours_missing(c, rc)) : MPI_SUCCESS;
}

/* It may wait for others, as blocking calls do. */
static enum layer_reason judge_init(struct layer_comm *c,
                                    const struct layer_call *a, int64_t *bytes)
{
    if (!c)
        return LAYER_COMM;
    requests_prepare(c);
    enum layer_reason reason = judge(c, a, bytes);
    if (reason == LAYER_TAKEN && may_leave(c) &&
        (requests_start_seldom(c) ||
         !contest_is_won(layer_contest(c, a, *bytes))))
        return LAYER_SLOWER;
    return reason;
}

int start_init(const struct layer_call *a, MPI_Info info, MPI_Request *request)
{
    struct request_work work;
    int64_t bytes = 0;
    bool taken = false;
    layer_begin();
    struct layer_comm *c = layer_is_off() ? NULL : layer_comm_of(a->comm);
    enum layer_reason reason = judge_init(c, a, &bytes);
    if (reason == LAYER_TAKEN) {
        double came = layer_now();
        bool can = !open_work(c, a, bytes, &work) &&
                   !(work.irregular && irregular_has_long(work.irregular));
        int rc = request_init(c, a, &work, can, &taken, request);
        layer.spent += layer_now() - came;
        if (!taken)
            request_work_free(&work);
        if (rc)
            return fail(a, rc);
    }
    if (reason == LAYER_TAKEN && !taken)
        reason = LAYER_MEMORY;
    count(FORM_INIT, a, reason);
    if (reason == LAYER_WRONG && c->team)
        team_skip(c);
    return taken ? MPI_SUCCESS : below_init(a, info, request);
}
