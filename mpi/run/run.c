/* SPDX-License-Identifier: BSD-3-Clause */
/* A blocking call by libdcoll. The latest call of each collective is
 * remembered: if the program makes the same call again, its arguments are not
 * looked at again, which shortens short calls. */
#include "mpi/requests/requests.h"
#include "mpi/run/run.h"

/* Of the same communicator and collective. */
static bool is_same(const struct layer_call *x, const struct layer_call *y)
{
    return x->recv == y->recv && x->recv_count == y->recv_count &&
           x->recv_type == y->recv_type && x->send == y->send &&
           x->send_count == y->send_count && x->send_type == y->send_type &&
           x->root == y->root && x->op == y->op;
}

const struct repeated_call *repeated_find(const struct layer_comm *c,
                                          const struct layer_call *a)
{
    const struct repeated_call *known = &c->repeated[a->collective];
    return known->is_set && is_same(&known->call, a) ? known : NULL;
}

/* Not if the program can free a type or operation, and make another one with
 * the same handle. */
static bool is_lasting(const struct layer_comm *c, const struct layer_call *a)
{
    if (layer_reduces(a->collective)) /* counts may change in their array */
        return reduce_basic(a) && a->collective != LAYER_REDUCE_SCATTER;
    return !layer_is_irregular(a->collective) && regular_stays_contiguous(c, a);
}

static void remember(struct layer_comm *c, const struct layer_call *a,
                     size_t bytes)
{
    if (layer.verify || !is_lasting(c, a))
        return;
    c->repeated[a->collective] = (struct repeated_call){
        *a, (int64_t)bytes, regular_plain(c, a, bytes), true};
}

static int run_known(struct layer_comm *c, const struct repeated_call *known)
{
    int rc = team_call(c, &known->dcoll);
    return rc ? team_error_code(c, rc) : MPI_SUCCESS;
}

static int run_new(struct layer_comm *c, const struct layer_call *a,
                   size_t bytes)
{
    int rc = layer_reduces(a->collective)        ? reduce_run(c, a, bytes)
             : layer_is_irregular(a->collective) ? irregular_run(c, a)
                                                 : regular_run(c, a, bytes);
    if (!rc)
        remember(c, a, bytes);
    return rc;
}

int dcoll_side_run(struct layer_comm *c, const struct layer_call *call,
                   size_t bytes)
{
    const struct repeated_call *known = &c->repeated[call->collective];
    int rc =
        call == &known->call ? run_known(c, known) : run_new(c, call, bytes);
    if (rc == LEFT_TO_MPI && team_is_lost(c)) /* lost while the ranks agreed */
        rc = team_error_code(c, dcoll_team_error(c->team));
    if (rc && rc != LEFT_TO_MPI)
        pmpi.Comm_call_errhandler(call->comm, rc);
    return rc;
}
