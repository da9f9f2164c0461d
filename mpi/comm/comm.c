/* SPDX-License-Identifier: BSD-3-Clause */
/* What the layer keeps for a communicator: it is an attribute of it. */
#include <stdio.h>
#include <stdlib.h>

#include "mpi/comm/comm.h"
#include "mpi/requests/requests.h"

void layer_comm_tell_why(const struct layer_comm *c)
{
    if (layer.stats && c->rank == 0 && c->size > 1)
        fprintf(stderr, "dcoll_mpi: a communicator of %d ranks is left: %s\n",
                c->size, c->why);
}

/* Has it processes of another MPI_COMM_WORLD (spawned, or connected to)? They
 * may lack this library: settings_agree asks one MPI_COMM_WORLD only. */
static bool has_strangers(MPI_Comm comm, int size)
{
    int here[MOST_RANKS], there[MOST_RANKS] = {0};
    bool found = false;
    MPI_Group group, world;
    pmpi.Comm_group(comm, &group);
    pmpi.Comm_group(MPI_COMM_WORLD, &world);
    for (int r = 0; r < size; r++)
        here[r] = r;
    pmpi.Group_translate_ranks(group, size, here, world, there);
    for (int r = 0; r < size; r++)
        found |= there[r] == MPI_UNDEFINED;
    pmpi.Group_free(&group);
    pmpi.Group_free(&world);
    return found;
}

/* Why it can have no team, as all ranks know without a message; or NULL. */
static const char *impossible(MPI_Comm comm, int size)
{
    int inter;
    if (pmpi.Comm_test_inter(comm, &inter) || inter)
        return "an inter-communicator";
    if (size == 1)
        return "one rank";
    if (size > MOST_RANKS)
        return "more than 1024 ranks";
    return has_strangers(comm, size) ? "processes of another MPI_COMM_WORLD"
                                     : NULL;
}

/* What a rank can do for a new communicator; the minimum of all ranks counts.
 */
enum { KEEPS_NOTHING, KEEPS_LEFT, KEEPS_OTHERS, KEEPS_ALL };
static const char *const left_for[] = {
    [KEEPS_LEFT] = "no memory",
    [KEEPS_OTHERS] = "128 others are served",
    [KEEPS_ALL] = NULL,
};

/* Stands for each communicator that this rank has no memory for. */
static struct layer_comm no_memory = {.why = "no memory"};

static int keep(MPI_Comm comm, struct layer_comm *c)
{
    if (pmpi.Comm_set_attr(comm, layer.key, c ? c : &no_memory))
        return KEEPS_NOTHING;
    if (!c)
        return KEEPS_LEFT;
    return layer_comm_may_have_team() ? KEEPS_ALL : KEEPS_OTHERS;
}

static int least(MPI_Comm comm, int mine)
{
    int all;
    return pmpi.Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm)
               ? KEEPS_NOTHING
               : all;
}

static void fill(struct layer_comm *c, MPI_Comm comm, const char *why, int rank,
                 int size)
{
    c->inner = MPI_COMM_NULL;
    c->ended = MPI_REQUEST_NULL;
    c->rank = rank;
    c->size = size;
    c->deferred = !why;
    layer_comm_enlist(c);
    if (why) {
        snprintf(c->why, sizeof c->why, "%s", why);
        layer_comm_tell_why(c);
    } else {
        c->has_topology = !topology_open(c, comm);
        if (layer.eager)
            layer_comm_make_team(c, comm);
    }
}

/* On all ranks: either an attribute is set, or none, and the next call tries
 * again. If one rank has no memory, the MPI below serves the communicator. */
static struct layer_comm *new_comm(MPI_Comm comm)
{
    struct layer_comm *c = calloc(1, sizeof *c);
    int rank, size;
    pmpi.Comm_rank(comm, &rank);
    pmpi.Comm_size(comm, &size);
    const char *why = impossible(comm, size);
    int mine = keep(comm, c), all = why ? mine : least(comm, mine);
    if (all == KEEPS_NOTHING) {
        if (mine != KEEPS_NOTHING)
            pmpi.Comm_delete_attr(comm, layer.key);
        free(c);
        return NULL;
    }
    if (!c)
        return &no_memory;
    fill(c, comm, why ? why : left_for[all], rank, size);
    return c;
}

/* Most calls of a thread are on the communicator of the call before. known:
 * NULL, or it has been freed if another one has been forgotten since. */
static _Thread_local struct {
    MPI_Comm comm;
    struct layer_comm *known;
    unsigned forgotten;
} latest;

static _Atomic unsigned forgotten; /* communicators that were freed */

int layer_comm_forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    forgotten++;
    return MPI_SUCCESS;
}

/* *c: NULL if it has no attribute yet. False: it is no communicator. */
static bool look_up(MPI_Comm comm, struct layer_comm **c)
{
    int found;
    const unsigned now = forgotten;
    if (latest.known && latest.comm == comm && latest.forgotten == now) {
        *c = latest.known;
        return true;
    }
    *c = NULL;
    if (comm == MPI_COMM_NULL || pmpi.Comm_get_attr(comm, layer.key, c, &found))
        return false;
    if (found) {
        latest.comm = comm;
        latest.known = *c;
        latest.forgotten = now;
    }
    return true;
}

struct layer_comm *layer_comm_find(MPI_Comm comm)
{
    struct layer_comm *c;
    if (layer.freed)
        layer_comm_end_freed();
    look_up(comm, &c);
    return c;
}

struct layer_comm *layer_comm_get(MPI_Comm comm)
{
    struct layer_comm *c;
    if (layer.freed)
        layer_comm_end_freed();
    return look_up(comm, &c) && !c ? new_comm(comm) : c;
}

void layer_comm_free(MPI_Comm comm)
{
    layer_setup();
    struct layer_comm *c = layer_is_off() ? NULL : layer_comm_find(comm);
    if (!c)
        return;
    pmpi.Comm_delete_attr(comm, layer.key);
    if (c != &no_memory)
        layer_comm_end(c);
}

void *buffer_reserve(struct buffer *buffer, size_t bytes)
{
    if (bytes <= buffer->bytes)
        return buffer->data;
    void *data = realloc(buffer->data, bytes);
    if (data) {
        buffer->data = data;
        buffer->bytes = bytes;
    }
    return data;
}

static void trim(struct buffer *buffer)
{
    void *less =
        buffer->bytes > BUFFER_KEPT ? realloc(buffer->data, BUFFER_KEPT) : NULL;
    if (!less)
        return;
    buffer->data = less;
    buffer->bytes = BUFFER_KEPT;
}

void layer_comm_trim(struct layer_comm *c)
{
    trim(&c->send);
    trim(&c->recv);
    trim(&c->expected);
    c->reserved = c->reserved < BUFFER_KEPT ? c->reserved : BUFFER_KEPT;
}
