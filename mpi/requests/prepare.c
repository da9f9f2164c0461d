/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-blocking calls that could not begin without waiting are noted. Later
 * collective calls that may block prepare what they need. */
#include <stdlib.h>
#include <string.h>

#include "mpi/requests/queue.h"
#include "mpi/run/run.h"

#define MISSES   2  /* before a kind of calls is prepared */
#define HOPELESS -1 /* its preparation has failed */

static size_t element(const dcoll_call_t *call)
{
    return call->reduction ? call->reduction->element : 0;
}

static bool same_counts(const size_t *x, const size_t *y, int ranks)
{
    return x && y ? !memcmp(x, y, (size_t)ranks * sizeof *x) : x == y;
}

static bool is_same_miss(const struct missed_call *m, const dcoll_call_t *call,
                         bool irregular, int ranks)
{
    const dcoll_call_t *known = &m->call;
    /* in other collectives a rank does not know which ranks are in place */
    bool all = dcoll_all_in_place(
        &(dcoll_args_t){.collective = call->collective, .in_place = true});
    bool place = all && (known->send == DCOLL_IN_PLACE) !=
                            (call->send == DCOLL_IN_PLACE);
    if (!m->misses || m->irregular != irregular)
        return false;
    return irregular ||
           (known->collective == call->collective &&
            known->bytes == call->bytes && known->root == call->root &&
            element(known) == element(call) && !place &&
            same_counts(known->counts, call->counts, ranks));
}

/* Without memory for its counts, a miss is not noted. */
static void note(struct missed_call *m, const dcoll_call_t *call,
                 bool irregular, int ranks)
{
    const size_t bytes = (size_t)ranks * sizeof *m->counts;
    free(m->counts);
    *m = (struct missed_call){irregular, *call, NULL, 1};
    if (!call->counts)
        return;
    m->counts = malloc(bytes);
    m->call.counts = m->counts;
    m->misses = m->counts && memcpy(m->counts, call->counts, bytes);
}

static void miss(struct request_queue *q, const dcoll_call_t *call,
                 bool irregular)
{
    for (unsigned i = 0; i < MISSED_KEPT; i++) {
        struct missed_call *m = &q->missed[i];
        if (!is_same_miss(m, call, irregular, q->c->size))
            continue;
        if (m->misses != HOPELESS && ++m->misses == MISSES)
            q->wanted++;
        return;
    }
    q->latest = (q->latest + 1) % MISSED_KEPT;
    if (q->missed[q->latest].misses >= MISSES)
        q->wanted--;
    note(&q->missed[q->latest], call, irregular, q->c->size);
}

static int would_wait(struct layer_comm *c, const dcoll_call_t *call,
                      bool irregular)
{
    if (!irregular)
        return dcoll_would_wait(c->team, call);
    return dcoll_alltoallv_would_wait(
        c->team,
        &(dcoll_alltoallv_t){.element = 1, .algorithm = team_algorithm(c)});
}

/* As requests_may_begin. */
static int may_begin(struct layer_comm *c, const dcoll_call_t *call,
                     bool irregular)
{
    queue_lock(c->queue);
    int rc = would_wait(c, call, irregular);
    queue_unlock(c->queue);
    if (rc == DRAIL_ENOTSUP)
        miss(c->queue, call, irregular);
    return rc == DRAIL_EAGAIN ? 0 : rc;
}

/* While an all-gather of these counts is not prepared, the all-to-all of any
 * counts serves it. */
int requests_may_begin(struct layer_comm *c, const struct layer_call *a,
                       int64_t bytes, bool *counted)
{
    dcoll_call_t call = {0};
    *counted = false;
    if (!queue_of(c))
        return DRAIL_ENOMEM;
    if (!layer_is_irregular(a->collective)) {
        call = regular_shape(c, a, (size_t)bytes);
        return may_begin(c, &call, false);
    }
    if (counted_is_repeated(c, a)) {
        call = counted_shape(c, a);
        int rc = may_begin(c, &call, false);
        *counted = !rc;
        if (rc != DRAIL_ENOTSUP || a->send == MPI_IN_PLACE)
            return rc;
    }
    return may_begin(c, &call, true);
}

static int prepare(struct layer_comm *c, const struct missed_call *m)
{
    if (!m->irregular)
        return dcoll_prepare(c->team, &m->call);
    return dcoll_alltoallv_prepare(
        c->team,
        &(dcoll_alltoallv_t){.element = 1, .algorithm = team_algorithm(c)});
}

void requests_prepare(struct layer_comm *c)
{
    request_team_make(c);
    struct layer_comm *served = request_team(c);
    struct request_queue *q = served ? served->queue : NULL;
    if (q && q->wanted)
        queue_meet(q);
    for (unsigned i = 0; q && q->wanted && i < MISSED_KEPT; i++) {
        struct missed_call *m = &q->missed[i];
        if (m->misses < MISSES)
            continue;
        double came = layer_now();
        queue_lock_drained(q);
        m->misses = prepare(served, m) ? HOPELESS : 0;
        q->wanted--;
        queue_unlock(q);
        c->spent += layer_now() - came;
    }
}
