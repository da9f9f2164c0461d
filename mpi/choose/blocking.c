/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose call it is. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpi/layer.h"
#include "mpi/requests/requests.h"

struct layer layer;

/* -------------------------------------------------------------- options --- */

static const struct {
    const char *name;
    bool *set; /* NULL: as if nothing was said */
} words[] = {
    {"on", NULL},
    {"off", &layer.off},
    {"always", &layer.always},
    {"eager", &layer.eager},
    {"inexact", &layer.inexact},
    {"verify", &layer.verify},
    {"stats", &layer.stats},
};

/* The launcher ends the other ranks. One that is asked to abort may do so
 * before it has passed on what was said. */
static void set_word(const char *word)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strcmp(words[i].name, word))
            continue;
        if (words[i].set)
            *words[i].set = true;
        return;
    }
    fprintf(stderr,
            "dcoll_mpi: DCOLL_MPI: '%s' is wrong; allowed: on, off, always, "
            "eager, inexact, verify, stats, with commas between them\n",
            word);
    exit(2);
}

static void read_words(void)
{
    const char *given = getenv("DCOLL_MPI");
    char *text = strdup(given ? given : ""), *left = text, *word;
    while (text && (word = strsep(&left, ",")))
        if (*word)
            set_word(word);
    free(text);
    layer.always |= layer.verify;
    layer.inexact |= layer.always;
    layer.eager |= layer.always;
}

void layer_read_words(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, read_words);
}

/* MPI's own one is an address that is not known before it is loaded. */
static int copy_nothing(MPI_Comm comm, int key, void *extra, void *from,
                        void *to, int *flag)
{
    (void)comm, (void)key, (void)extra, (void)from, (void)to;
    *flag = 0;
    return MPI_SUCCESS;
}

/* Without MPI_COMM_WORLD, in sessions alone, nothing is taken over. */
static void begin(void)
{
    int threads, begun;
    pmpi_ready();
    layer_read_words();
    if (pmpi.Initialized(&begun) || !begun) {
        layer.off = true;
        return;
    }
    if (pmpi.Query_thread(&threads) || threads == MPI_THREAD_MULTIPLE)
        layer.threads = true;
    layer.completed_elsewhere = ahead_completes();
    if (pmpi.Comm_create_keyval(copy_nothing, layer_comm_forget, &layer.key,
                                NULL))
        layer.off = true;
}

void layer_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
}

bool layer_is_off(void)
{
    return layer.off || layer.threads || layer.ended;
}

/* ---------------------------------------------------------------- below --- */

const char *layer_name(int collective)
{
    static const char *const names[LAYER_COLLECTIVES] = {
        [LAYER_ALLGATHERV] = "allgatherv",
        [LAYER_GATHERV] = "gatherv",
        [LAYER_SCATTERV] = "scatterv",
    };
    return names[collective]
               ? names[collective]
               : dcoll_collective_name((dcoll_collective_t)collective);
}

int layer_below(const struct layer_call *a)
{
    int send_count = (int)a->send_count, recv_count = (int)a->recv_count;
#if MPI_VERSION >= 4
    if (a->large)
        return large_below(a);
#endif
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return pmpi.Allgather(a->send, send_count, a->send_type, a->recv,
                              recv_count, a->recv_type, a->comm);
    case DCOLL_GATHER:
        return pmpi.Gather(a->send, send_count, a->send_type, a->recv,
                           recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_SCATTER:
        return pmpi.Scatter(a->send, send_count, a->send_type, a->recv,
                            recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_ALLTOALL:
        return pmpi.Alltoall(a->send, send_count, a->send_type, a->recv,
                             recv_count, a->recv_type, a->comm);
    case DCOLL_ALLTOALLV:
        return pmpi.Alltoallv(a->send, a->send_counts, a->send_displs,
                              a->send_type, a->recv, a->recv_counts,
                              a->recv_displs, a->recv_type, a->comm);
    case LAYER_ALLGATHERV:
        return pmpi.Allgatherv(a->send, send_count, a->send_type, a->recv,
                               a->recv_counts, a->recv_displs, a->recv_type,
                               a->comm);
    case LAYER_GATHERV:
        return pmpi.Gatherv(a->send, send_count, a->send_type, a->recv,
                            a->recv_counts, a->recv_displs, a->recv_type,
                            a->root, a->comm);
    case LAYER_SCATTERV:
        return pmpi.Scatterv(a->send, a->send_counts, a->send_displs,
                             a->send_type, a->recv, recv_count, a->recv_type,
                             a->root, a->comm);
    case DCOLL_BCAST:
        return pmpi.Bcast(a->recv, recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_ALLREDUCE:
        return pmpi.Allreduce(a->send, a->recv, recv_count, a->recv_type, a->op,
                              a->comm);
    case DCOLL_REDUCE:
        return pmpi.Reduce(a->send, a->recv, recv_count, a->recv_type, a->op,
                           a->root, a->comm);
    default:
        return pmpi.Barrier(a->comm);
    }
}

/* --------------------------------------------------------------- choice --- */

/* MPI_IN_PLACE where MPI forbids it? What a rank does not use may be anything.
 */
static bool is_misplaced(const struct layer_call *a, bool root)
{
    switch (a->collective) {
    case DCOLL_GATHER:
    case LAYER_GATHERV:
    case DCOLL_REDUCE:
        return (root ? a->recv : a->send) == MPI_IN_PLACE;
    case DCOLL_SCATTER:
    case LAYER_SCATTERV:
        return (root ? a->send : a->recv) == MPI_IN_PLACE;
    default:
        return a->recv == MPI_IN_PLACE;
    }
}

/* Bytes of a block, which MPI demands to be the same on all ranks; by the
 * arguments that this rank uses. -1: they are wrong. */
static int64_t block_bytes(const struct layer_comm *c,
                           const struct layer_call *a)
{
    bool root = a->root == c->rank;
    if (a->root < 0 || a->root >= c->size)
        return -1;
    if (dcoll_collective_reduces(a->collective) && a->op == MPI_OP_NULL)
        return -1;
    if (is_misplaced(a, root))
        return -1;
    if (layer_is_irregular(a->collective)) /* each rank knows its own only */
        return irregular_is_right(c, a) ? 0 : -1;
    switch (a->collective) {
    case DCOLL_BARRIER:
        return 0;
    case DCOLL_GATHER:
        return root ? data_bytes(a->recv_count, a->recv_type)
                    : data_bytes(a->send_count, a->send_type);
    case DCOLL_SCATTER:
        return root ? data_bytes(a->send_count, a->send_type)
                    : data_bytes(a->recv_count, a->recv_type);
    default: /* a send in place says nothing */
        return data_bytes(a->recv_count, a->recv_type);
    }
}

/* On all ranks: at a root, that is its own. */
static bool is_in_place(const struct layer_call *a)
{
    return a->send == MPI_IN_PLACE && (a->collective == DCOLL_ALLTOALLV ||
                                       a->collective == LAYER_ALLGATHERV);
}

/* Rounding depends on the order of the operands: whoever is faster may not
 * decide on that. */
static bool is_inexact(const struct layer_call *a)
{
    return dcoll_collective_reduces(a->collective) && !reduce_is_exact(a);
}

static enum layer_reason reason_for(const struct layer_comm *c,
                                    const struct layer_call *a, int64_t bytes)
{
    if (!c->team && !c->deferred)
        return LAYER_COMM;
    if (bytes < 0)
        return LAYER_WRONG;
    if (layer_is_irregular(a->collective))
        return is_in_place(a) ? LAYER_PLACE : LAYER_TAKEN;
    if (bytes == 0 && a->collective != DCOLL_BARRIER)
        return LAYER_EMPTY;
    bool reduces = dcoll_collective_reduces(a->collective);
    if (reduces && !reduce_can(a))
        return LAYER_TYPE;
    if (is_inexact(a) && !layer.inexact)
        return LAYER_INEXACT;
    return bytes > (reduces ? REDUCE_MOST : INT_MAX / c->size) ? LAYER_LONG
                                                               : LAYER_TAKEN;
}

static unsigned class_of(int64_t bytes)
{
    unsigned class = 63 - (unsigned)__builtin_clzll((uint64_t)bytes | 1);
    return class < LAYER_CLASSES ? class : LAYER_CLASSES - 1;
}

/* Atomic, as threads may make calls at a time that are left to the MPI below:
 * it costs a part of a short call. */
static void count(const struct layer_call *a, enum layer_reason reason)
{
    if (layer.stats || layer.verify)
        layer.calls[a->collective][reason]++;
}

/* By libdcoll, or where it comes to no call by the MPI below. */
static int take(struct layer_comm *c, const struct layer_call *a, int64_t bytes)
{
    int rc = ours_run(c, a, (size_t)bytes);
    enum layer_reason reason = rc == OURS_LEFT ? LAYER_MEMORY
                               : rc            ? LAYER_FAILED
                                               : LAYER_TAKEN;
    count(a, reason);
    return rc == OURS_LEFT ? layer_below(a) : rc;
}

static int leave(const struct layer_call *a, enum layer_reason reason)
{
    count(a, reason);
    return layer_below(a);
}

static int make(struct layer_comm *c, const struct layer_call *a, int whose,
                int64_t bytes)
{
    return whose == CONTEST_OURS ? take(c, a, bytes) : leave(a, LAYER_SLOWER);
}

double layer_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* All ranks have had their trials, also those of which a call has failed: who
 * is alive tells, and who waits for one that is not hears of it. */
static void decide(struct layer_comm *c, const struct layer_call *a,
                   int64_t bytes)
{
    struct contest *contest = layer_contest(c, a, bytes);
    struct contest_call *all = c->recv.data; /* has room for all ranks */
    if (!ours_share(c, contest->timed, sizeof contest->timed, all))
        return; /* the team is broken, or goes on below */
    contest_decide(contest, all, c->size, drail_job_nodes(c->job) == 1);
    if (!contest_has_ended(contest))
        return;
    layer.spent += contest->cost > 0 ? contest->cost : 0;
    contest->cost = 0;
    verdict_keep(c, a->collective, class_of(bytes), contest);
}

enum layer_reason layer_judge(const struct layer_comm *c,
                              const struct layer_call *a, int64_t *bytes)
{
    *bytes = c->team || c->deferred ? block_bytes(c, a) : 0;
    return reason_for(c, a, *bytes);
}

struct contest *layer_contest(struct layer_comm *c, const struct layer_call *a,
                              int64_t bytes)
{
    return &c->contests[a->collective][class_of(bytes)];
}

/* The faster one's, or whose turn it is to be timed. */
static int contend(struct layer_comm *c, const struct layer_call *a,
                   int64_t bytes)
{
    struct contest *contest = layer_contest(c, a, bytes);
    bool trial;
    int whose = contest_turn(contest, &trial);
    double came = trial ? layer_now() : 0;
    int rc = make(c, a, whose, bytes);
    if (!trial) {
        layer.saved += !rc && whose == CONTEST_OURS ? contest->saves : 0;
        return rc;
    }
    if (contest_took(contest, came, layer_now()))
        decide(c, a, bytes);
    return rc;
}

/* Its error is the program's, and others may have made it. */
static int refuse(struct layer_comm *c, const struct layer_call *a)
{
    int rc = leave(a, LAYER_WRONG);
    if (c->team)
        team_skip(c);
    return rc;
}

/* A call of a communicator that has no team, by now. */
static int put_off(struct layer_comm *c, const struct layer_call *a,
                   int64_t bytes)
{
    double came = layer_now();
    int rc = leave(a, LAYER_EARLY);
    break_even_count(c, a->collective, class_of(bytes), layer_now() - came);
    return rc;
}

/* Calls that are wrong here may be made by this rank alone: they do not count.
 */
static enum layer_reason serve_in_time(struct layer_comm *c,
                                       const struct layer_call *a,
                                       enum layer_reason reason)
{
    bool now = reason == LAYER_TAKEN && is_inexact(a);
    if (reason != LAYER_WRONG && (now || break_even_reached(c, a->comm)))
        layer_comm_serve(c, a->comm);
    return c->deferred || c->team ? reason : LAYER_COMM;
}

int layer_make(const struct layer_call *a)
{
    layer_begin();
    struct layer_comm *c = layer_is_off() ? NULL : layer_comm_of(a->comm);
    if (!c)
        return leave(a, LAYER_COMM);
    requests_prepare(c);
    const struct layer_known *known = ours_known(c, a);
    int64_t bytes = known ? known->bytes : 0;
    enum layer_reason reason = known ? LAYER_TAKEN : layer_judge(c, a, &bytes);
    a = known ? &known->call : a;
    if (c->deferred)
        reason = serve_in_time(c, a, reason);
    if (reason == LAYER_WRONG)
        return refuse(c, a);
    if (reason != LAYER_TAKEN)
        return leave(a, reason);
    if (c->deferred)
        return put_off(c, a, bytes);
    if (layer.always || is_inexact(a) || ours_is_lost(c))
        return take(c, a, bytes);
    return contend(c, a, bytes);
}
