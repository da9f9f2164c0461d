/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Teams of communicators. The ranks agree on each step of making one: what one
 * of them can't do is left to the MPI below by all.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi/layer.h"
#include "mpi/requests/requests.h"

#define MOST_RANKS 1024 /* of drail_job_join */
#define MOST_TEAMS 128  /* at a time: MPICH has 2048 communicators in all */
#define NODE_RAILS "shm0"

/* ----------------------------------------------------------- agreements --- */

/* Do all ranks say yes? The first one that does not says why, and after that
 * no rank asks again: the communicator is left. Until then all ranks come to
 * the same agreements, wherever they fail. */
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

/* While the team is made, others may have failed on their way here. No rank
 * gives up after a time: one that is late in MPI is waited for. */
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

/* Of each rank the first one on its node; NULL: it is left. */
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

/* Who waits in our calls owes others the progress of his messages. MPI has to
 * be called by the program's thread. */
void layer_progress_below(void *context)
{
    const struct layer_comm *c = context;
    int found;
    if (pulse_is_here())
        return;
    pmpi.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, c->inner, &found,
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

/* What reductions and contests need, and short blocks to pack. */
static bool has_rooms(struct layer_comm *c)
{
    c->contests = calloc(LAYER_COLLECTIVES, sizeof *c->contests);
    _Static_assert(MOST_RANKS * sizeof((struct contest *)0)->timed <=
                       ROOM_LEAST,
                   "all ranks tell of their trials there");
    if (c->contests && layer_room(&c->send, ROOM_LEAST) && layer_room(&c->recv, ROOM_LEAST) &&
        irregular_room(c))
        return true;
    snprintf(c->why, sizeof c->why, "no memory");
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
    bool can =
        has_rooms(c) && !drail_job_join(&how, &c->job, &err) && has_rails(c);
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
    if (agree(c, can))
        c->team = made;
    else
        dcoll_team_free(made);
}

static void tell(const struct layer_comm *c)
{
    if (layer.stats && c->rank == 0 && c->size > 1)
        fprintf(stderr, "dcoll_mpi: a communicator of %d ranks is left: %s\n",
                c->size, c->why);
}

bool layer_comm_has_place(void)
{
    return layer.teams < MOST_TEAMS;
}

/* Processes that were spawned, or have been met, which may be without this
 * library: layer_agree is for one MPI_COMM_WORLD. */
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

/* What all ranks know without a message. NULL: nothing. */
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

/* The same ranks again: an error is not the program's. */
static void split(struct layer_comm *c, MPI_Comm comm)
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
    split(c, comm);
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
        verdicts_agree(c);
        if (drail_nrails(c->rail) > 1)
            team_guard(c);
        return;
    }
    layer_comm_close_team(c);
    pmpi.Comm_free(&c->inner);
}

void layer_comm_serve(struct layer_comm *c, MPI_Comm comm)
{
    double began = layer_now();
    c->deferred = false;
    make_team(c, comm);
    break_even_paid(layer_now() - began);
    if (!c->team)
        tell(c);
}

/* What a rank keeps of a communicator; the least of all ranks counts. */
enum { KEEPS_NOTHING, KEEPS_LEFT, KEEPS_OTHERS, KEEPS_ALL };
static const char *const left_for[] = {
    [KEEPS_LEFT] = "no memory",
    [KEEPS_OTHERS] = "128 others are served",
    [KEEPS_ALL] = NULL,
};

/* In place of one that there was no memory for. */
static struct layer_comm no_memory = {.why = "no memory"};

static int keep(MPI_Comm comm, struct layer_comm *c)
{
    if (pmpi.Comm_set_attr(comm, layer.key, c ? c : &no_memory))
        return KEEPS_NOTHING;
    if (!c)
        return KEEPS_LEFT;
    return layer_comm_has_place() ? KEEPS_ALL : KEEPS_OTHERS;
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
    c->next = layer.comms;
    layer.comms = c;
    if (why) {
        snprintf(c->why, sizeof c->why, "%s", why);
        tell(c);
    } else if (layer.eager) {
        layer_comm_serve(c, comm);
    }
}

/* All ranks keep something of it, or none does, and the next call tries again:
 * what one of them has no memory for is left by all. */
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

/* Mostly a call is on the communicator of the one before, whose attribute is
 * there until it is told of its end. NULL: of none. */
static struct {
    MPI_Comm comm;
    struct layer_comm *known;
} latest;

int layer_comm_forget(MPI_Comm comm, int key, void *value, void *extra)
{
    (void)comm, (void)key, (void)value, (void)extra;
    latest.known = NULL;
    return MPI_SUCCESS;
}

/* *c: NULL if it has none yet. False: it is no communicator. */
static bool look_up(MPI_Comm comm, struct layer_comm **c)
{
    int found;
    if (latest.known && latest.comm == comm) {
        *c = latest.known;
        return true;
    }
    *c = NULL;
    if (comm == MPI_COMM_NULL || pmpi.Comm_get_attr(comm, layer.key, c, &found))
        return false;
    if (found) {
        latest.comm = comm;
        latest.known = *c;
    }
    return true;
}

struct layer_comm *layer_comm_known(MPI_Comm comm)
{
    struct layer_comm *c;
    if (layer.freed)
        layer_comm_end_freed();
    look_up(comm, &c);
    return c;
}

struct layer_comm *layer_comm_of(MPI_Comm comm)
{
    struct layer_comm *c;
    if (layer.freed)
        layer_comm_end_freed();
    return look_up(comm, &c) && !c ? new_comm(comm) : c;
}

void layer_comm_free(MPI_Comm comm)
{
    layer_begin();
    struct layer_comm *c = layer_is_off() ? NULL : layer_comm_known(comm);
    if (!c)
        return;
    pmpi.Comm_delete_attr(comm, layer.key);
    if (c != &no_memory)
        layer_comm_end(c);
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

static void trim(struct layer_room *room)
{
    void *less =
        room->bytes > ROOM_MOST ? realloc(room->data, ROOM_MOST) : NULL;
    if (!less)
        return;
    room->data = less;
    room->bytes = ROOM_MOST;
}

void layer_comm_trim(struct layer_comm *c)
{
    trim(&c->send);
    trim(&c->recv);
    trim(&c->expected);
    c->room = c->room < ROOM_MOST ? c->room : ROOM_MOST;
}
