/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of communicators. Ranks may free them in different orders, and
 * exchange messages in between. So MPI_Comm_free does not wait: a rank that is
 * done with a communicator begins a non-blocking barrier of the MPI below.
 * Later calls test it, and end the team when it is complete.
 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/requests/requests.h"

static struct {
    pthread_mutex_t lock;
    struct layer_comm *first;
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER};

void layer_comm_enlist(struct layer_comm *c)
{
    pthread_mutex_lock(&comms.lock);
    c->next = comms.first;
    comms.first = c;
    pthread_mutex_unlock(&comms.lock);
}

void layer_comm_discard(struct layer_comm *c)
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
    free(c->counted[0].counts);
    free(c->counted[1].counts);
    free(c->told);
    topology_close(c);
    free(c->trials);
    free(c);
}

/* With the lock. */
static struct layer_comm *take_off(struct layer_comm **at)
{
    struct layer_comm *c = *at;
    *at = c->next;
    layer.saved += c->saved;
    layer.spent += c->spent;
    if (c->request_team)
        layer.spent += c->request_team->spent;
    return c;
}

/* Without the lock, as links may take long to end. */
static void destroy(struct layer_comm *c)
{
    if (c->request_team)
        request_team_discard(c->request_team);
    layer_comm_discard(c);
}

/* How many teams it has. */
static int teams_of(const struct layer_comm *c)
{
    return (c->team != NULL) +
           (c->request_team && c->request_team->team != NULL);
}

/* This rank makes no more calls on it. */
static void begin_end(struct layer_comm *c)
{
    if (c->team && !c->ending && pmpi.Ibarrier(c->inner, &c->ended))
        c->ended = MPI_REQUEST_NULL;
    c->ending = true;
}

/* Does no rank make more calls on it? Also true after a rank has died or the
 * communicator was revoked, as the barrier would never complete. */
static bool has_ended(struct layer_comm *c)
{
    int done = 1;
    return pmpi.Test(&c->ended, &done, MPI_STATUS_IGNORE) || done ||
           dcoll_team_error(c->team) == DRAIL_EPEER ||
           dcoll_team_error(c->team) == REVOKED;
}

static bool try_end(struct layer_comm *c)
{
    if (!c->freed) /* another thread may make its second team */
        return false;
    struct layer_comm *served = request_team(c);
    if (served && requests_are_left(served))
        return false;
    begin_end(c);
    return has_ended(c);
}

void layer_comm_end_freed(void)
{
    struct layer_comm *c, **at = &comms.first, *ended = NULL;
    if (pthread_mutex_trylock(&comms.lock)) /* another thread does it */
        return;
    while ((c = *at)) {
        if (!try_end(c)) {
            at = &c->next;
            continue;
        }
        take_off(at)->next = ended;
        ended = c;
        layer.freed--;
    }
    pthread_mutex_unlock(&comms.lock);
    while ((c = ended)) {
        ended = c->next;
        destroy(c);
    }
}

void layer_comm_end(struct layer_comm *c)
{
    struct layer_comm *served = request_team(c);
    if (served)
        requests_detach(served);
    layer.teams -= teams_of(c);
    pthread_mutex_lock(&comms.lock);
    c->freed = true;
    pthread_mutex_unlock(&comms.lock);
    layer.freed++;
    layer_comm_end_freed();
}

/* Makes progress meanwhile, as peers may wait for it. */
static void await_end(struct layer_comm *c)
{
    while (!has_ended(c) && !drail_progress(c->rail)) {
        if (c->request_team)
            drail_progress(c->request_team->rail);
        sched_yield();
    }
}

void layer_comm_end_all(void)
{
    struct layer_comm *c;
    progress_thread_stop();
    for (c = comms.first; c; c = c->next)
        begin_end(c);
    for (c = comms.first; c; c = c->next)
        await_end(c);
    while (comms.first)
        destroy(take_off(&comms.first));
}
