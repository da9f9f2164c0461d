/* SPDX-License-Identifier: BSD-3-Clause */
/* Blocking calls: which side makes them. */
#include <limits.h>
#include <time.h>

#include "mpi/below/below.h"
#include "mpi/choose/choose.h"
#include "mpi/requests/requests.h"
#include "mpi/run/blocks.h"

struct layer layer;

const char *layer_name(int collective)
{
    static const char *const names[LAYER_COLLECTIVES] = {
        [LAYER_ALLGATHERV] = "allgatherv",
        [LAYER_GATHERV] = "gatherv",
        [LAYER_SCATTERV] = "scatterv",
        [LAYER_ALLTOALLW] = "alltoallw",
        [LAYER_NEIGHBOR_ALLGATHER] = "neighbor_allgather",
        [LAYER_NEIGHBOR_ALLGATHERV] = "neighbor_allgatherv",
        [LAYER_NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
        [LAYER_NEIGHBOR_ALLTOALLV] = "neighbor_alltoallv",
        [LAYER_NEIGHBOR_ALLTOALLW] = "neighbor_alltoallw",
        [LAYER_REDUCE_SCATTER] = "reduce_scatter",
    };
    return names[collective]
               ? names[collective]
               : dcoll_collective_name((dcoll_collective_t)collective);
}

double layer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ------------------------------------------------------ may it be taken --- */

/* Is MPI_IN_PLACE given where MPI forbids it? */
static bool is_misplaced(const struct layer_call *a, bool root)
{
    switch (a->collective) {
    case LAYER_GATHER:
    case LAYER_GATHERV:
    case LAYER_REDUCE:
        return (root ? a->recv : a->send) == MPI_IN_PLACE;
    case LAYER_SCATTER:
    case LAYER_SCATTERV:
        return (root ? a->send : a->recv) == MPI_IN_PLACE;
    default:
        return a->recv == MPI_IN_PLACE ||
               (a->send == MPI_IN_PLACE &&
                layer_is_of_neighbors(a->collective));
    }
}

static bool has_negative_block(const struct layer_comm *c,
                               const struct layer_call *a)
{
    for (int r = 0; a->recv_counts && r < c->size; r++)
        if (layer_count_at(a, a->recv_counts, r) < 0)
            return true;
    return false;
}

/* MPI ignores the counts of sides that a rank does not have. */
bool layer_has_negative(const struct layer_comm *c, const struct layer_call *a)
{
    const bool root = a->root == c->rank;
    if (layer_is_irregular(a->collective))
        return blocks_have_negative(c, a);
    if (a->collective == LAYER_REDUCE_SCATTER)
        return has_negative_block(c, a);
    return (a->send_count < 0 && a->send != MPI_IN_PLACE &&
            (root || a->collective != LAYER_SCATTER)) ||
           (a->recv_count < 0 && a->recv != MPI_IN_PLACE &&
            (root || a->collective != LAYER_GATHER));
}

/* -1: wrong arguments. */
static int64_t longest_block(const struct layer_comm *c,
                             const struct layer_call *a)
{
    int64_t longest = a->recv_counts ? 0 : -1;
    for (int r = 0; longest >= 0 && r < c->size; r++) {
        int64_t bytes =
            datatype_bytes(layer_count_at(a, a->recv_counts, r), a->recv_type);
        longest = bytes < 0 ? -1 : bytes > longest ? bytes : longest;
    }
    return longest;
}

/* Bytes of a block, by the arguments that this rank must give: MPI demands the
 * same on all ranks. -1: they are wrong. */
static int64_t block_bytes(const struct layer_comm *c,
                           const struct layer_call *a)
{
    bool root = a->root == c->rank;
    if (a->root < 0 || a->root >= c->size)
        return -1;
    if (layer_reduces(a->collective) && a->op == MPI_OP_NULL)
        return -1;
    if (is_misplaced(a, root))
        return -1;
    if (layer_is_irregular(a->collective)) /* a rank knows its own only */
        return blocks_are_right(c, a) ? 0 : -1;
    if (layer_has_negative(c, a))
        return -1;
    switch (a->collective) {
    case LAYER_BARRIER:
        return 0;
    case LAYER_GATHER:
        return root ? datatype_bytes(a->recv_count, a->recv_type)
                    : datatype_bytes(a->send_count, a->send_type);
    case LAYER_SCATTER:
        return root ? datatype_bytes(a->send_count, a->send_type)
                    : datatype_bytes(a->recv_count, a->recv_type);
    case LAYER_REDUCE_SCATTER:
        return longest_block(c, a);
    default: /* send may be MPI_IN_PLACE */
        return datatype_bytes(a->recv_count, a->recv_type);
    }
}

static bool gathers(const struct layer_call *a)
{
    return a->collective == LAYER_NEIGHBOR_ALLGATHER ||
           a->collective == LAYER_NEIGHBOR_ALLGATHERV;
}

static enum layer_reason reason_for(const struct layer_comm *c,
                                    const struct layer_call *a, int64_t bytes)
{
    if (!c->team && !c->deferred)
        return LAYER_NO_TEAM;
    if (bytes < 0)
        return LAYER_WRONG;
    if (a->collective == LAYER_ALLGATHERV && a->send == MPI_IN_PLACE)
        return longest_block(c, a) > INT_MAX ? LAYER_LONG : LAYER_TAKEN;
    if (c->has_twins && layer_is_of_neighbors(a->collective) && !gathers(a))
        return LAYER_TWINS;
    if (layer_is_irregular(a->collective))
        return LAYER_TAKEN;
    if (bytes == 0 && a->collective != LAYER_BARRIER)
        return LAYER_EMPTY;
    bool reduces = layer_reduces(a->collective);
    if (reduces && !reduce_can(a))
        return LAYER_TYPE;
    if (reduce_rounds(a) && !layer.inexact)
        return LAYER_INEXACT;
    const int blocks =
        reduce_has_blocks(a->collective) || !reduces ? c->size : 1;
    return bytes > (reduces ? REDUCE_MOST : INT_MAX) / blocks ? LAYER_LONG
                                                              : LAYER_TAKEN;
}

static unsigned class_of(int64_t bytes)
{
    unsigned class = 63 - (unsigned)__builtin_clzll((uint64_t)bytes | 1);
    return class < LAYER_CLASSES ? class : LAYER_CLASSES - 1;
}

/* ----------------------------------------------------------- which side --- */

/* Only on request, as it is atomic: calls that are left may come from several
 * threads. */
static void count(const struct layer_call *a, enum layer_reason reason)
{
    if (layer.stats || layer.verify)
        layer.calls[a->collective][reason]++;
}

static int take(struct layer_comm *c, const struct layer_call *a, int64_t bytes)
{
    int rc = dcoll_side_run(c, a, (size_t)bytes);
    enum layer_reason reason = rc == LEFT_TO_MPI ? LAYER_MEMORY
                               : rc              ? LAYER_FAILED
                                                 : LAYER_TAKEN;
    count(a, reason);
    return rc == LEFT_TO_MPI ? below_run(a) : rc;
}

static int leave(const struct layer_call *a, enum layer_reason reason)
{
    count(a, reason);
    return below_run(a);
}

static int make(struct layer_comm *c, const struct layer_call *a, int side,
                int64_t bytes)
{
    return side == SIDE_DCOLL ? take(c, a, bytes) : leave(a, LAYER_SLOWER);
}

/* All ranks come here, also those whose calls failed. If one is dead, libdcoll
 * reports it. */
static void decide(struct layer_comm *c, const struct layer_call *a,
                   int64_t bytes)
{
    struct trials *trials = layer_trials(c, a, bytes);
    struct timed_call *all = c->recv.data; /* BUFFER_LEAST is enough */
    if (!team_allgather(c, trials->timed, sizeof trials->timed, all))
        return;
    trials_decide(trials, all, c->size, drail_job_nodes(c->job) == 1);
    if (!trials_are_over(trials))
        return;
    c->spent += trials->cost > 0 ? trials->cost : 0;
    trials->cost = 0;
    trial_result_store(c, a->collective, class_of(bytes), trials);
}

enum layer_reason layer_judge(const struct layer_comm *c,
                              const struct layer_call *a, int64_t *bytes)
{
    *bytes = c->team || c->deferred ? block_bytes(c, a) : 0;
    return reason_for(c, a, *bytes);
}

struct trials *layer_trials(struct layer_comm *c, const struct layer_call *a,
                            int64_t bytes)
{
    return &c->trials[a->collective][class_of(bytes)];
}

/* The trials say which side makes it. */
static int contend(struct layer_comm *c, const struct layer_call *a,
                   int64_t bytes)
{
    struct trials *trials = layer_trials(c, a, bytes);
    bool timed;
    int side = trials_next_side(trials, &timed);
    double came = timed ? layer_now() : 0;
    int rc = make(c, a, side, bytes);
    if (!timed) {
        c->saved += !rc && side == SIDE_DCOLL ? trials->saves : 0;
        return rc;
    }
    if (trials_record(trials, came, layer_now()))
        decide(c, a, bytes);
    return rc;
}

/* The MPI below reports the wrong arguments. Other ranks may have made the call
 * by libdcoll. Open MPI does not look at all counts, and would wait for them;
 * MPICH may have been built without such checks. */
static int refuse(struct layer_comm *c, const struct layer_call *a)
{
    const bool negative = c->team && layer_has_negative(c, a);
    int rc = negative ? MPI_ERR_COUNT : leave(a, LAYER_WRONG);
    if (negative) {
        count(a, LAYER_WRONG);
        pmpi.Comm_call_errhandler(a->comm, rc);
    }
    if (c->team)
        team_skip(c);
    return rc;
}

/* A call of a communicator that has no team yet. */
static int put_off(struct layer_comm *c, const struct layer_call *a,
                   int64_t bytes)
{
    double came = layer_now();
    int rc = leave(a, LAYER_EARLY);
    break_even_count(c, a->collective, class_of(bytes), layer_now() - came);
    return rc;
}

/* Makes the team when it is time. Wrong calls do not count: this rank may be
 * the only one that makes them. */
static enum layer_reason make_team_in_time(struct layer_comm *c,
                                           const struct layer_call *a,
                                           enum layer_reason reason)
{
    bool now = reason == LAYER_TAKEN && reduce_rounds(a);
    if (reason != LAYER_WRONG && (now || break_even_reached(c, a->comm)))
        layer_comm_make_team(c, a->comm);
    return c->deferred || c->team ? reason : LAYER_NO_TEAM;
}

int layer_run(const struct layer_call *a)
{
    layer_setup();
    struct layer_comm *c = layer_is_off() ? NULL : layer_comm_get(a->comm);
    if (!c)
        return leave(a, LAYER_NO_TEAM);
    requests_prepare(c);
    const struct repeated_call *known = repeated_find(c, a);
    int64_t bytes = known ? known->bytes : 0;
    enum layer_reason reason = known ? LAYER_TAKEN : layer_judge(c, a, &bytes);
    a = known ? &known->call : a;
    if (c->deferred)
        reason = make_team_in_time(c, a, reason);
    if (reason == LAYER_WRONG)
        return refuse(c, a);
    if (reason != LAYER_TAKEN)
        return leave(a, reason);
    if (c->deferred)
        return put_off(c, a, bytes);
    if (layer.always || reduce_rounds(a) || team_is_lost(c))
        return take(c, a, bytes);
    return contend(c, a, bytes);
}
