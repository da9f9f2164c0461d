/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With MPI_THREAD_MULTIPLE a communicator has a second team, for its requests.
 * One thread may be in a blocking call, which uses its team until all ranks
 * have come, while another thread completes a request that such a rank waits
 * for. The second team is used by short steps, none of which waits for other
 * ranks, by any thread. It is made when the communicator has requests for the
 * first time, in the next call that may block.
 */
#include <stdlib.h>

#include "mpi/comm/comm.h"

struct layer_comm *request_team(struct layer_comm *c)
{
    return layer.threads ? c->request_team : c;
}

void request_team_want(struct layer_comm *c)
{
    if (layer.threads && c->team && !layer.intercepted)
        c->wants_request_team = true;
}

static struct layer_comm *new_twin(const struct layer_comm *c)
{
    struct layer_comm *twin = calloc(1, sizeof *twin);
    if (!twin)
        return NULL;
    twin->inner = MPI_COMM_NULL;
    twin->ended = MPI_REQUEST_NULL;
    twin->rank = c->rank;
    twin->size = c->size;
    twin->has_topology = c->has_topology;
    twin->has_twins = c->has_twins;
    twin->sources = c->sources; /* which c owns */
    twin->destinations = c->destinations;
    return twin;
}

void request_team_discard(struct layer_comm *twin)
{
    twin->sources.ranks = twin->destinations.ranks = NULL;
    layer_comm_discard(twin);
}

static bool all_can(const struct layer_comm *c, const struct layer_comm *twin)
{
    int mine = twin && layer_comm_may_have_team(), all;
    return !pmpi.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, c->inner) && all;
}

void request_team_make(struct layer_comm *c)
{
    if (!c->wants_request_team || c->request_team || c->lacks_request_team)
        return;
    struct layer_comm *twin = new_twin(c);
    c->lacks_request_team = !all_can(c, twin);
    if (c->lacks_request_team) {
        free(twin);
        return;
    }
    layer_comm_make_team(twin, c->inner);
    if (twin->team) {
        c->request_team = twin;
        return;
    }
    c->lacks_request_team = true;
    request_team_discard(twin);
}
