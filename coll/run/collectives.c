/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of dcoll.h but irregular all-to-alls, and those on requests. */
#include "coll/run/prepare/buffers.h"
#include "coll/run/prepare/choose.h"
#include "coll/run/collectives.h"
#include "coll/run/learn.h"
#include "coll/run/ports_left.h"
#include "coll/run/prepare/create.h"
#include "coll/run/execute/executor.h"
#include "coll/run/irregular/bounds.h"
#include "coll/run/cache/cache.h"
#include "coll/run/execute/wait.h"
#include "coll/run/prepare/skip.h"

/* Buffers as schedules see them: in a broadcast SEND and RECV are one buffer;
 * in place, at a root or in a reduce-scatter or scan, one is a part of the
 * other. */
static int bind(dcoll_request_t *q, const dcoll_call_t *call)
{
    const unsigned char *send = call->send;
    unsigned char *recv = call->recv;
    size_t own = dcoll_block_begin(&q->args, q->args.root);
    if (call->collective == DCOLL_BCAST)
        send = recv;
    else if (call->collective == DCOLL_GATHER && send == DCOLL_IN_PLACE)
        send = recv + own;
    else if (call->collective == DCOLL_SCATTER && recv == DCOLL_IN_PLACE)
        recv = (unsigned char *)send + own;
    else if (send == DCOLL_IN_PLACE &&
             (call->collective == DCOLL_REDUCE ||
              dcoll_in_place_anywhere(call->collective)))
        send = recv;
    else if (send == DCOLL_IN_PLACE)
        send = NULL;
    if (q->args.element)
        q->reduction = *call->reduction;
    return ledger_break_if(q->team, request_bind(q, send, recv));
}

static int finish(dcoll_request_t *q, int timeout_ms)
{
    return ledger_break_if(q->team, request_finish(q, timeout_ms));
}

static int start(dcoll_request_t *q)
{
    struct dealing *d = &q->dealing;
    if (request_is_ordered(q)) {
        int rc = ledger_break_if(q->team, skips_settle(q->team));
        if (rc)
            return rc;
        ledger_append(q->team->ledger, &q->call);
    }
    if (q->handles && !d->unreported_error)
        d->unreported_error = d->start_error;
    d->start_error = 0;
    return ledger_break_if(q->team, request_start(q));
}

/* Performs what need not wait, so that it proceeds while the caller computes.
 */
static int go_on(dcoll_request_t *q)
{
    int rc = request_advance(q);
    return rc == DRAIL_EAGAIN ? 0 : ledger_break_if(q->team, rc);
}

/* The start is complete. Each handle reports its error. */
static int ended(dcoll_request_t *q)
{
    dcoll_team_t *team = q->team;
    struct dealing *d = &q->dealing;
    int error = d->unreported_error ? d->unreported_error : d->start_error;
    if (q->handles <= 1)
        d->unreported_error = 0;
    int rc =
        q->owner == OWNER_CALLER ? 0 : ledger_break_if(team, cache_return(q));
    return rc ? rc : error;
}

/* ------------------------------------------------------------- blocking */

int request_get_blocking(dcoll_team_t *team, const dcoll_args_t *args,
                         const dcoll_algorithm_t *algorithm,
                         dcoll_request_t **out)
{
    *out = cache_find(team, args, algorithm);
    if (*out)
        return 0;
    int rc = request_create(team, args, algorithm, OWNER_BLOCKING, out);
    if (!rc)
        cache_trim(team);
    return rc;
}

int request_run(dcoll_request_t *q)
{
    dcoll_team_t *team = q->team;
    team->times.learning = false; /* learn_run() sets it afterwards */
    int rc = start(q);
    if (!rc)
        rc = finish(q, team->timeout_ms);
    return rc ? rc : q->dealing.start_error;
}

static int run_blocking(dcoll_team_t *team, const dcoll_call_t *call,
                        const dcoll_args_t *args,
                        const dcoll_algorithm_t *algorithm, bool remember)
{
    dcoll_request_t *q;
    int rc = request_get_blocking(team, args, algorithm, &q);
    if (rc)
        return rc;
    rc = bind(q, call);
    if (remember)
        cache_remember(q, call);
    if (!rc)
        rc = request_run(q);
    int left = request_unbind(q);
    return rc ? rc : ledger_break_if(team, left);
}

int dcoll_run(dcoll_team_t *team, const dcoll_call_t *call)
{
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    if (!team)
        return DRAIL_EINVAL;
    dcoll_request_t *q = cache_repeat(team, call);
    if (q)
        return request_run(q);
    int rc = call_choose(team, call, true, &args, &algorithm);
    if (!rc && ports_left_count(team, call, &args)) {
        rc = ports_left_renew(team, run_blocking);
        if (!rc)
            rc = call_choose(team, call, true, &args, &algorithm);
    }
    return rc ? rc : learn_run(team, call, &args, algorithm, run_blocking);
}

static int run(dcoll_team_t *team, dcoll_collective_t collective,
               const void *send, void *recv, size_t bytes, unsigned root)
{
    return dcoll_run(team, &(dcoll_call_t){.collective = collective,
                                           .send = send,
                                           .recv = recv,
                                           .bytes = bytes,
                                           .root = root});
}

int dcoll_gather(dcoll_team_t *team, const void *send, void *recv, size_t bytes,
                 unsigned root)
{
    return run(team, DCOLL_GATHER, send, recv, bytes, root);
}

int dcoll_allgather(dcoll_team_t *team, const void *send, void *recv,
                    size_t bytes)
{
    return run(team, DCOLL_ALLGATHER, send, recv, bytes, 0);
}

int dcoll_alltoall(dcoll_team_t *team, const void *send, void *recv,
                   size_t bytes)
{
    return run(team, DCOLL_ALLTOALL, send, recv, bytes, 0);
}

int dcoll_bcast(dcoll_team_t *team, void *buffer, size_t bytes, unsigned root)
{
    return run(team, DCOLL_BCAST, NULL, buffer, bytes, root);
}

int dcoll_scatter(dcoll_team_t *team, const void *send, void *recv,
                  size_t bytes, unsigned root)
{
    return run(team, DCOLL_SCATTER, send, recv, bytes, root);
}

int dcoll_barrier(dcoll_team_t *team)
{
    return run(team, DCOLL_BARRIER, NULL, NULL, 0, 0);
}

static int reduce(dcoll_team_t *team, dcoll_collective_t collective,
                  const void *send, void *recv, size_t count,
                  const dcoll_reduction_t *reduction, unsigned root)
{
    size_t element = reduction && reduction->element ? reduction->element : 1;
    bool fits = count <= SIZE_MAX / element;
    return dcoll_run(team, &(dcoll_call_t){
                               .collective = collective,
                               .send = send,
                               .recv = recv,
                               /* checks refuse SIZE_MAX */
                               .bytes = fits ? count * element : SIZE_MAX,
                               .root = root,
                               .reduction = reduction,
                           });
}

int dcoll_reduce(dcoll_team_t *team, const void *send, void *recv, size_t count,
                 const dcoll_reduction_t *reduction, unsigned root)
{
    return reduce(team, DCOLL_REDUCE, send, recv, count, reduction, root);
}

int dcoll_allreduce(dcoll_team_t *team, const void *send, void *recv,
                    size_t count, const dcoll_reduction_t *reduction)
{
    return reduce(team, DCOLL_ALLREDUCE, send, recv, count, reduction, 0);
}

int dcoll_reduce_scatter_block(dcoll_team_t *team, const void *send, void *recv,
                               size_t count, const dcoll_reduction_t *reduction)
{
    return reduce(team, DCOLL_REDUCE_SCATTER_BLOCK, send, recv, count,
                  reduction, 0);
}

static int run_unequal(dcoll_team_t *team, dcoll_collective_t collective,
                       const void *send, void *recv, const size_t *counts,
                       const dcoll_reduction_t *reduction, unsigned root)
{
    if (team && !counts)
        return team_fail(team, DRAIL_EINVAL, "%s: counts is NULL",
                         dcoll_collective_name(collective));
    return dcoll_run(team, &(dcoll_call_t){.collective = collective,
                                           .send = send,
                                           .recv = recv,
                                           .root = root,
                                           .reduction = reduction,
                                           .counts = counts});
}

int dcoll_allgatherv(dcoll_team_t *team, const void *send, void *recv,
                     const size_t *counts)
{
    return run_unequal(team, DCOLL_ALLGATHER, send, recv, counts, NULL, 0);
}

int dcoll_gatherv(dcoll_team_t *team, const void *send, void *recv,
                  const size_t *counts, unsigned root)
{
    return run_unequal(team, DCOLL_GATHER, send, recv, counts, NULL, root);
}

int dcoll_scatterv(dcoll_team_t *team, const void *send, void *recv,
                   const size_t *counts, unsigned root)
{
    return run_unequal(team, DCOLL_SCATTER, send, recv, counts, NULL, root);
}

int dcoll_reduce_scatter(dcoll_team_t *team, const void *send, void *recv,
                         const size_t *counts,
                         const dcoll_reduction_t *reduction)
{
    return run_unequal(team, DCOLL_REDUCE_SCATTER_BLOCK, send, recv, counts,
                       reduction, 0);
}

int dcoll_scan(dcoll_team_t *team, const void *send, void *recv, size_t count,
               const dcoll_reduction_t *reduction)
{
    return reduce(team, DCOLL_SCAN, send, recv, count, reduction, 0);
}

int dcoll_exscan(dcoll_team_t *team, const void *send, void *recv, size_t count,
                 const dcoll_reduction_t *reduction)
{
    return reduce(team, DCOLL_EXSCAN, send, recv, count, reduction, 0);
}

/* ------------------------------------------ persistent and non-blocking */

int dcoll_init(dcoll_team_t *team, const dcoll_call_t *call,
               dcoll_request_t **out)
{
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    if (!team || !out)
        return DRAIL_EINVAL;
    int rc = call_choose(team, call, false, &args, &algorithm);
    dcoll_request_t *q;
    if (!rc)
        rc = request_create(team, &args, algorithm, OWNER_CALLER, &q);
    if (rc)
        return rc;
    rc = bind(q, call);
    if (rc)
        request_destroy(q);
    else
        *out = q;
    return rc;
}

int dcoll_start(dcoll_request_t *q)
{
    if (!q)
        return DRAIL_EINVAL;
    if (q->team->broken)
        return q->team->broken;
    if (q->active)
        return team_fail(q->team, DRAIL_EINVAL, "%s: it is under way already",
                         dcoll_collective_name(q->args.collective));
    int rc = q->args.traffic ? bounds_renew(q) : 0;
    if (!rc)
        rc = start(q);
    return rc ? rc : go_on(q);
}

int dcoll_test(dcoll_request_t *q)
{
    if (!q)
        return DRAIL_EINVAL;
    if (q->team->broken)
        return q->team->broken;
    int rc = q->active ? request_poll(q) : 0;
    if (rc)
        return rc == DRAIL_EAGAIN ? rc : ledger_break_if(q->team, rc);
    return ended(q);
}

int dcoll_wait(dcoll_request_t *q, int timeout_ms)
{
    if (!q)
        return DRAIL_EINVAL;
    if (q->team->broken)
        return q->team->broken;
    int rc = q->active
                 ? finish(q, timeout_ms < 0 ? q->team->timeout_ms : timeout_ms)
                 : 0;
    return rc ? rc : ended(q);
}

int dcoll_let_go(dcoll_request_t *q)
{
    if (!q)
        return DRAIL_EINVAL;
    if (q->active)
        return team_fail(q->team, DRAIL_EINVAL, "%s: it is under way",
                         dcoll_collective_name(q->args.collective));
    return ledger_break_if(q->team, request_unbind(q));
}

int dcoll_free(dcoll_request_t *q)
{
    int rc = 0;
    if (!q)
        return 0;
    if (q->owner != OWNER_CALLER)
        return dcoll_wait(q, -1);
    if (q->active)
        rc = dcoll_wait(q, -1);
    dcoll_team_t *team = q->team;
    int left = request_destroy(q);
    return rc ? rc : ledger_break_if(team, left);
}

/* Equal calls use a few requests in turn. So all ranks choose the same one,
 * whichever starts each rank has already completed. */
int request_get_nonblocking(dcoll_team_t *team, const dcoll_args_t *args,
                            const dcoll_algorithm_t *algorithm,
                            dcoll_request_t **out)
{
    int rc = 0;
    dcoll_request_t *q = cache_take_next(team, args, algorithm);
    if (!q) {
        rc = request_create(team, args, algorithm, OWNER_NONBLOCKING, &q);
        if (rc)
            return rc;
        cache_trim(team);
    }
    *out = q;
    if (q->active)
        rc = finish(q, team->timeout_ms);
    int left = ledger_break_if(team, request_unbind(q));
    return rc ? rc : left;
}

int request_launch(dcoll_request_t *q, dcoll_request_t **out)
{
    int rc = start(q);
    if (rc)
        return rc;
    q->handles++;
    *out = q;
    return go_on(q);
}

int dcoll_begin(dcoll_team_t *team, const dcoll_call_t *call,
                dcoll_request_t **out)
{
    const dcoll_algorithm_t *algorithm;
    dcoll_args_t args;
    dcoll_request_t *q;
    if (!team || !out)
        return DRAIL_EINVAL;
    int rc = learn_choose(team, call, &args, &algorithm);
    if (!rc)
        rc = request_get_nonblocking(team, &args, algorithm, &q);
    if (!rc)
        rc = bind(q, call);
    return rc ? rc : request_launch(q, out);
}

const dcoll_algorithm_t *dcoll_request_algorithm(const dcoll_request_t *q)
{
    return q->algorithm;
}
