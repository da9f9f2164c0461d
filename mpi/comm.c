/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of communicators. The ranks agree on each step of making one: what one
 * of them can't do is left to the MPI below by all.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "layer.h"
#include "requests.h"

#define MOST_RANKS 1024 /* of drail_job_join */
#define NODE_RAILS "shm0"

/* ----------------------------------------------------------- agreements --- */

/* Gives up after a time, as PMPI_Allgather would not. */
static int allgather(void *context, const void *mine, size_t bytes, void *all,
                     int timeout_ms)
{
    const struct layer_comm *c = context;
    MPI_Request request;
    int done = 0, n = (int)bytes;
    double end = PMPI_Wtime() + timeout_ms / 1e3;
    if (PMPI_Iallgather(mine, n, MPI_BYTE, all, n, MPI_BYTE, c->inner,
                        &request))
        return DRAIL_EPEER;
    while (!done) {
        if (PMPI_Test(&request, &done, MPI_STATUS_IGNORE))
            return DRAIL_EPEER;
        if (!done && PMPI_Wtime() > end)
            return DRAIL_ETIMEOUT;
    }
    return 0;
}

/* Can all ranks? The first one that can't says why. */
static bool all_can(struct layer_comm *c, bool can)
{
    int mine = can ? c->size : c->rank, first;
    if (PMPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, c->inner))
        return false;
    if (first < c->size &&
        PMPI_Bcast(c->why, sizeof c->why, MPI_BYTE, first, c->inner))
        return false;
    return first == c->size;
}

/* Of each rank the first one on its node; NULL: it is left. */
static unsigned *nodes_of(struct layer_comm *c)
{
    MPI_Comm node;
    unsigned mine = (unsigned)c->rank;
    unsigned *nodes = malloc((size_t)c->size * sizeof *nodes);
    PMPI_Comm_split_type(c->inner, MPI_COMM_TYPE_SHARED, c->rank, MPI_INFO_NULL,
                         &node);
    PMPI_Bcast(&mine, 1, MPI_UNSIGNED, 0, node);
    PMPI_Comm_free(&node);
    if (!nodes)
        snprintf(c->why, sizeof c->why, "no memory");
    if (!all_can(c, nodes) || PMPI_Allgather(&mine, 1, MPI_UNSIGNED, nodes, 1,
                                             MPI_UNSIGNED, c->inner)) {
        free(nodes);
        return NULL;
    }
    return nodes;
}

/* ------------------------------------------------------------- creation --- */

/* Who waits in our calls owes others the progress of his messages. MPI has to
 * be called by the program's thread. */
void layer_progress_below(void *context)
{
    const struct layer_comm *c = context;
    int found;
    if (pulse_is_here())
        return;
    PMPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->inner, &found,
                MPI_STATUS_IGNORE);
}

/* Within a node its memory is one rail, unless the user wants others. MPI waits
 * for as long as it takes. */
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

/* Between nodes the rails of the default reach nobody. */
static bool has_rails(struct layer_comm *c)
{
    if (drail_job_nodes(c->job) == 1 || getenv("DRAIL_RAILS"))
        return true;
    snprintf(c->why, sizeof c->why,
             "ranks on %u nodes, and DRAIL_RAILS does not say over which rails",
             drail_job_nodes(c->job));
    return false;
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
    bool can = !drail_job_join(&how, &c->job, &err) && has_rails(c);
    if (can) {
        configure(c, &rails, &team);
        can = !drail_open(c->job, &rails, &c->rail, &err);
    }
    if (!can && err.text[0])
        snprintf(c->why, sizeof c->why, "%s", err.text);
    if (!all_can(c, can))
        return;
    can = !dcoll_team_create(c->job, c->rail, &team, &c->team, &err);
    if (!can)
        snprintf(c->why, sizeof c->why, "%s", err.text);
    if (!all_can(c, can)) {
        dcoll_team_free(c->team);
        c->team = NULL;
    }
}

static void close_team(struct layer_comm *c)
{
    dcoll_team_free(c->team);
    drail_close(c->rail);
    drail_job_leave(c->job);
    c->team = NULL;
    c->rail = NULL;
    c->job = NULL;
}

/* What all ranks know without a message. */
static bool is_possible(struct layer_comm *c, MPI_Comm comm)
{
    int inter;
    if (!PMPI_Comm_test_inter(comm, &inter) && inter)
        snprintf(c->why, sizeof c->why, "an inter-communicator");
    else if (c->size == 1)
        snprintf(c->why, sizeof c->why, "one rank");
    else if (c->size > MOST_RANKS)
        snprintf(c->why, sizeof c->why, "%d ranks; at most %d are served",
                 c->size, MOST_RANKS);
    else
        return true;
    return false;
}

static void serve(struct layer_comm *c, MPI_Comm comm)
{
    if (!is_possible(c, comm) || PMPI_Comm_split(comm, 0, c->rank, &c->inner))
        return;
    PMPI_Comm_set_errhandler(c->inner, MPI_ERRORS_RETURN);
    unsigned *nodes = nodes_of(c);
    if (nodes)
        open_team(c, nodes);
    free(nodes);
    if (!c->team)
        close_team(c);
    if (!c->team && layer.stats && c->rank == 0)
        fprintf(stderr, "dcoll_mpi: a communicator of %d ranks is left: %s\n",
                c->size, c->why);
}

struct layer_comm *layer_comm_known(MPI_Comm comm)
{
    struct layer_comm *c = NULL;
    int found;
    return comm == MPI_COMM_NULL ||
                   PMPI_Comm_get_attr(comm, layer.key, &c, &found) || !found
               ? NULL
               : c;
}

struct layer_comm *layer_comm_of(MPI_Comm comm)
{
    struct layer_comm *c = NULL;
    int found;
    if (comm == MPI_COMM_NULL ||
        PMPI_Comm_get_attr(comm, layer.key, &c, &found))
        return NULL;
    if (found)
        return c;
    c = calloc(1, sizeof *c);
    if (!c || PMPI_Comm_set_attr(comm, layer.key, c)) {
        /* the others would wait for this rank for ever */
        fprintf(stderr, "dcoll_mpi: no memory\n");
        PMPI_Abort(comm, 1);
        return NULL;
    }
    c->inner = MPI_COMM_NULL;
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_size(comm, &c->size);
    serve(c, comm);
    c->next = layer.comms;
    layer.comms = c;
    return c;
}

/* ------------------------------------------------------------------ end --- */

/* No rank may still be in a collective of the team. One that is broken has
 * told its errors. */
static void end(struct layer_comm *c)
{
    if (c->team)
        team_run(c, &(dcoll_call_t){.collective = DCOLL_BARRIER});
    requests_end(c);
    close_team(c);
    if (c->inner != MPI_COMM_NULL)
        PMPI_Comm_free(&c->inner);
    free(c->send.data);
    free(c->recv.data);
    free(c->expected.data);
    free(c->counts.data);
    free(c);
}

void layer_comm_end(MPI_Comm comm)
{
    struct layer_comm *c, **at = &layer.comms;
    int found;
    layer_begin();
    if (layer.off || layer.threads || comm == MPI_COMM_NULL ||
        PMPI_Comm_get_attr(comm, layer.key, &c, &found) || !found)
        return;
    PMPI_Comm_delete_attr(comm, layer.key);
    if (requests_are_left(c)) /* which may be started until MPI_Finalize */
        return;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    end(c);
}

/* The latest first: of two, all ranks have made the same one first. */
void layer_comm_end_all(void)
{
    pulse_end();
    while (layer.comms) {
        struct layer_comm *c = layer.comms;
        layer.comms = c->next;
        end(c);
    }
}

void *layer_room(struct layer_room *room, size_t bytes)
{
    if (bytes <= room->bytes)
        return room->data;
    void *data = realloc(room->data, bytes);
    if (data) {
        room->data = data;
        room->bytes = bytes;
    }
    return data;
}
