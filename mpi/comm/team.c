/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The team of a communicator is made. The ranks agree on each step: if one of
 * them fails, no rank gets a team, and the MPI below serves the communicator.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/choose/choose.h"
#include "mpi/requests/requests.h"
#include "mpi/run/blocks.h"

#define MOST_TEAMS 128 /* at a time: MPICH has 2048 communicators in all */
#define NODE_RAILS "shm0"

/* ----------------------------------------------------------- agreements --- */

/* Do all ranks say yes? If not, the lowest rank that said no broadcasts its
 * reason, and later agreements return false at once. A rank that fails goes on
 * to the next agreement, so that all ranks come to the same ones. */
static bool agree(struct layer_comm *c, bool yes)
{
    int mine = yes ? c->size : c->rank, first;
    if (c->refused)
        return false;
    if (pmpi.Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, c->inner))
        first = -1;
    c->refused = first < c->size;
    if (c->refused && first >= 0)
        pmpi.Bcast(c->why, sizeof c->why, MPI_BYTE, first, c->inner);
    return !c->refused;
}

/* For drail_job_join. While the team is made, a rank that has failed may come
 * to agree() instead, so agree first. No time limit: a rank may be late. */
static int allgather(void *context, const void *mine, size_t bytes, void *all,
                     int timeout_ms)
{
    struct layer_comm *c = context;
    int n = (int)bytes;
    (void)timeout_ms;
    if (!c->team && !agree(c, true))
        return DRAIL_EPEER;
    return pmpi.Allgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, c->inner)
               ? DRAIL_EPEER
               : 0;
}

/* For each rank the lowest rank on its node. NULL: the ranks have agreed to
 * fail. */
static unsigned *nodes_of(struct layer_comm *c)
{
    MPI_Comm node = MPI_COMM_NULL;
    unsigned mine = (unsigned)c->rank;
    unsigned *nodes = malloc((size_t)c->size * sizeof *nodes);
    bool can = !pmpi.Comm_split_type(c->inner, MPI_COMM_TYPE_SHARED, c->rank,
                                     MPI_INFO_NULL, &node) &&
               !pmpi.Bcast(&mine, 1, MPI_UNSIGNED, 0, node) && nodes;
    if (node != MPI_COMM_NULL)
        pmpi.Comm_free(&node);
    if (!can)
        snprintf(c->why, sizeof c->why, "no memory");
    if (!agree(c, can) || pmpi.Allgather(&mine, 1, MPI_UNSIGNED, nodes, 1,
                                         MPI_UNSIGNED, c->inner)) {
        free(nodes);
        return NULL;
    }
    return nodes;
}

/* ------------------------------------------------------------- creation --- */

/* Only the program's threads may call MPI. */
void layer_progress_below(void *context)
{
    const struct layer_comm *c = context;
    int found;
    if (progress_thread_is_self())
        return;
    pmpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->inner, &found,
                MPI_STATUS_IGNORE);
}

/* Within a node, shared memory is the only rail unless DRAIL_RAILS is set. Like
 * MPI, the team has no time limit unless DRAIL_TIMEOUT_MS is set. */
static void configure(struct layer_comm *c, drail_config_t *rails,
                      dcoll_config_t *team)
{
    drail_config_init(rails);
    if (drail_job_nodes(c->job) == 1 && !getenv("DRAIL_RAILS")) {
        rails->rails[0] = NODE_RAILS;
        rails->nrails = 1;
        rails->engine = DRAIL_ENGINE_SINGLE;
    }
    if (!getenv("DRAIL_TIMEOUT_MS"))
        rails->timeout_ms = INT_MAX;
    dcoll_config_init(team);
    team->any_order = true;
    team->idle = layer_progress_below;
    team->idle_context = c;
}

/* The default rails do not reach other nodes. */
static bool has_rails(struct layer_comm *c)
{
    if (drail_job_nodes(c->job) == 1 || getenv("DRAIL_RAILS"))
        return true;
    snprintf(c->why, sizeof c->why,
             "ranks on %u nodes, and DRAIL_RAILS does not say over which rails",
             drail_job_nodes(c->job));
    return false;
}

static bool has_counts(struct layer_comm *c)
{
    const size_t n = (size_t)c->size;
    c->gathered = calloc(n, sizeof *c->gathered);
    c->told = calloc(n, counted_told_bytes());
    for (unsigned i = 0; i < 2; i++)
        c->counted[i].counts = calloc(n, sizeof *c->counted[i].counts);
    return c->gathered && c->told && c->counted[0].counts &&
           c->counted[1].counts;
}

/* For reductions, trials and blocks that are packed. */
static bool has_buffers(struct layer_comm *c)
{
    c->trials = calloc(LAYER_COLLECTIVES, sizeof *c->trials);
    _Static_assert(MOST_RANKS * sizeof((struct trials *)0)->timed <=
                       BUFFER_LEAST,
                   "the trials of all ranks fit");
    if (c->trials && has_counts(c) && buffer_reserve(&c->send, BUFFER_LEAST) &&
        buffer_reserve(&c->recv, BUFFER_LEAST) && blocks_reserve(c))
        return true;
    snprintf(c->why, sizeof c->why, "no memory");
    return false;
}

static void close_rails(struct layer_comm *c)
{
    drail_close(c->rail);
    c->rail = NULL;
}

void layer_comm_close_team(struct layer_comm *c)
{
    dcoll_team_free(c->team);
    c->team = NULL;
    close_rails(c);
    drail_job_leave(c->job);
    c->job = NULL;
}

static void open_team(struct layer_comm *c, const unsigned *nodes)
{
    const drail_job_join_t how = {.rank = (unsigned)c->rank,
                                  .size = (unsigned)c->size,
                                  .nodes = nodes,
                                  .allgather = allgather,
                                  .context = c};
    drail_error_t err = {.text = ""};
    drail_config_t rails;
    dcoll_config_t team;
    bool can =
        has_buffers(c) && !drail_job_join(&how, &c->job, &err) && has_rails(c);
    if (can) {
        configure(c, &rails, &team);
        can = !drail_open(c->job, &rails, &c->rail, &err);
    }
    if (!can && err.text[0] && !c->refused)
        snprintf(c->why, sizeof c->why, "%s", err.text);
    if (!agree(c, can))
        return;
    dcoll_team_t *made = NULL;
    can = !dcoll_team_create(c->job, c->rail, &team, &made, &err);
    if (!can && !c->refused)
        snprintf(c->why, sizeof c->why, "%s", err.text);
    if (!can)
        close_rails(c); /* other ranks may be waiting to connect */
    if (agree(c, can))
        c->team = made;
    else
        dcoll_team_free(made);
}

bool layer_comm_may_have_team(void)
{
    return layer.teams < MOST_TEAMS;
}

/* Errors do not go to the program's handler. */
static void make_inner(struct layer_comm *c, MPI_Comm comm)
{
    MPI_Errhandler handler;
    if (pmpi.Comm_get_errhandler(comm, &handler))
        return;
    pmpi.Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    if (pmpi.Comm_split(comm, 0, c->rank, &c->inner))
        c->inner = MPI_COMM_NULL;
    pmpi.Comm_set_errhandler(comm, handler);
    pmpi.Errhandler_free(&handler);
}

static void make_team(struct layer_comm *c, MPI_Comm comm)
{
    make_inner(c, comm);
    if (c->inner == MPI_COMM_NULL) {
        snprintf(c->why, sizeof c->why, "MPI_Comm_split has failed");
        return;
    }
    pmpi.Comm_set_errhandler(c->inner, MPI_ERRORS_RETURN);
    unsigned *nodes = nodes_of(c);
    if (nodes)
        open_team(c, nodes);
    free(nodes);
    layer.teams += c->team != NULL;
    if (c->team) {
        trial_results_agree(c);
        if (drail_nrails(c->rail) > 1)
            queue_guard(c);
        return;
    }
    layer_comm_close_team(c);
    pmpi.Comm_free(&c->inner);
}

void layer_comm_make_team(struct layer_comm *c, MPI_Comm comm)
{
    double began = layer_now();
    c->deferred = false;
    make_team(c, comm);
    break_even_paid(c, layer_now() - began);
    if (!c->team)
        layer_comm_tell_why(c);
}
