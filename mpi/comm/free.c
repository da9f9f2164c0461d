/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of communicators. Ranks may free them in different orders, and
 * exchange messages in between. So MPI_Comm_free does not wait: a rank that is
 * done with a communicator begins a non-blocking barrier of the MPI below.
 * Later calls test it, and end the team when it is complete.
 */
#include <sched.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/requests/requests.h"

static void destroy(struct layer_comm *c)
{
    requests_end(c);
    layer_comm_close_team(c);
    if (c->inner != MPI_COMM_NULL && c->ended == MPI_REQUEST_NULL)
        pmpi.Comm_free(&c->inner);
    free(c->send.data);
    free(c->recv.data);
    free(c->expected.data);
    free(c->counts.data);
    free(c->gathered);
    topology_close(c);
    free(c->trials);
    free(c);
}

/* This rank makes no more calls on it. */
static void begin_end(struct layer_comm *c)
{
    if (c->team && !c->ending && pmpi.Ibarrier(c->inner, &c->ended))
        c->ended = MPI_REQUEST_NULL;
    c->ending = true;
}

/* Does no rank make more calls on it? Also true after a rank has died, as the
 * barrier would never complete. */
static bool has_ended(struct layer_comm *c)
{
    int done = 1;
    return pmpi.Test(&c->ended, &done, MPI_STATUS_IGNORE) || done ||
           dcoll_team_error(c->team) == DRAIL_EPEER;
}

static bool try_end(struct layer_comm *c)
{
    if (!c->freed || requests_are_left(c))
        return false;
    begin_end(c);
    return has_ended(c);
}

void layer_comm_end_freed(void)
{
    struct layer_comm *c, **at = &layer.comms;
    while ((c = *at)) {
        if (!try_end(c)) {
            at = &c->next;
            continue;
        }
        *at = c->next;
        layer.freed--;
        destroy(c);
    }
}

void layer_comm_end(struct layer_comm *c)
{
    requests_detach(c);
    c->freed = true;
    layer.freed++;
    layer.teams -= c->team != NULL;
    layer_comm_end_freed();
}

/* Makes progress meanwhile, as peers may wait for it. */
static void await_end(struct layer_comm *c)
{
    while (!has_ended(c) && !drail_progress(c->rail))
        sched_yield();
}

void layer_comm_end_all(void)
{
    struct layer_comm *c;
    progress_thread_stop();
    for (c = layer.comms; c; c = c->next)
        begin_end(c);
    for (c = layer.comms; c; c = c->next)
        await_end(c);
    while ((c = layer.comms)) {
        layer.comms = c->next;
        destroy(c);
    }
}
