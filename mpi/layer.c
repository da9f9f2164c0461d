/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose call it is. */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layer.h"
#include "requests.h"

struct layer layer;

/* -------------------------------------------------------------- options --- */

static const struct {
    const char *name;
    bool *set; /* NULL: as if nothing was said */
} words[] = {
    {"on", NULL},
    {"off", &layer.off},
    {"always", &layer.always},
    {"verify", &layer.verify},
    {"stats", &layer.stats},
};

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
            "verify, stats, with commas between them\n",
            word);
    PMPI_Abort(MPI_COMM_WORLD, 2);
}

static void begin(void)
{
    const char *given = getenv("DCOLL_MPI");
    char *text = strdup(given ? given : ""), *left = text, *word;
    int threads;
    while (text && (word = strsep(&left, ",")))
        if (*word)
            set_word(word);
    free(text);
    layer.always |= layer.verify;
    if (PMPI_Query_thread(&threads) || threads == MPI_THREAD_MULTIPLE)
        layer.threads = true;
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN,
                                &layer.key, NULL))
        layer.off = true;
}

void layer_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, begin);
}

/* ---------------------------------------------------------------- below --- */

const char *layer_name(int collective)
{
    static const char *const names[LAYER_COLLECTIVES] = {
        [LAYER_ALLGATHERV] = "allgatherv", [LAYER_GATHERV] = "gatherv",
        [LAYER_SCATTERV] = "scatterv",     [LAYER_ALLREDUCE] = "allreduce",
        [LAYER_REDUCE] = "reduce",
    };
    return names[collective]
               ? names[collective]
               : dcoll_collective_name((dcoll_collective_t)collective);
}

int layer_below(const struct layer_call *a)
{
    switch (a->collective) {
    case DCOLL_ALLGATHER:
        return PMPI_Allgather(a->send, a->send_count, a->send_type, a->recv,
                              a->recv_count, a->recv_type, a->comm);
    case DCOLL_GATHER:
        return PMPI_Gather(a->send, a->send_count, a->send_type, a->recv,
                           a->recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_SCATTER:
        return PMPI_Scatter(a->send, a->send_count, a->send_type, a->recv,
                            a->recv_count, a->recv_type, a->root, a->comm);
    case DCOLL_ALLTOALL:
        return PMPI_Alltoall(a->send, a->send_count, a->send_type, a->recv,
                             a->recv_count, a->recv_type, a->comm);
    case DCOLL_BCAST:
        return PMPI_Bcast(a->recv, a->recv_count, a->recv_type, a->root,
                          a->comm);
    case DCOLL_ALLTOALLV:
        return PMPI_Alltoallv(a->send, a->send_counts, a->send_displs,
                              a->send_type, a->recv, a->recv_counts,
                              a->recv_displs, a->recv_type, a->comm);
    case LAYER_ALLGATHERV:
        return PMPI_Allgatherv(a->send, a->send_count, a->send_type, a->recv,
                               a->recv_counts, a->recv_displs, a->recv_type,
                               a->comm);
    case LAYER_GATHERV:
        return PMPI_Gatherv(a->send, a->send_count, a->send_type, a->recv,
                            a->recv_counts, a->recv_displs, a->recv_type,
                            a->root, a->comm);
    case LAYER_SCATTERV:
        return PMPI_Scatterv(a->send, a->send_counts, a->send_displs,
                             a->send_type, a->recv, a->recv_count, a->recv_type,
                             a->root, a->comm);
    case LAYER_ALLREDUCE:
        return PMPI_Allreduce(a->send, a->recv, a->recv_count, a->recv_type,
                              a->op, a->comm);
    case LAYER_REDUCE:
        return PMPI_Reduce(a->send, a->recv, a->recv_count, a->recv_type, a->op,
                           a->root, a->comm);
    default:
        return PMPI_Barrier(a->comm);
    }
}

/* --------------------------------------------------------------- choice --- */

/* Bytes of a block, which MPI demands to be the same on all ranks; by the
 * arguments that this rank uses. -1: they are wrong. */
static int64_t block_bytes(const struct layer_comm *c,
                           const struct layer_call *a)
{
    bool root = a->root == c->rank;
    if (a->root < 0 || a->root >= c->size)
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

static enum layer_reason reason_for(const struct layer_comm *c,
                                    const struct layer_call *a, int64_t bytes)
{
    if (!c->team)
        return LAYER_COMM;
    if (bytes < 0)
        return LAYER_WRONG;
    if (layer_is_irregular(a->collective)) /* in place at the root: its own */
        return a->send == MPI_IN_PLACE && a->collective != LAYER_GATHERV
                   ? LAYER_PLACE
                   : LAYER_TAKEN;
    if (bytes == 0 && a->collective != DCOLL_BARRIER)
        return LAYER_EMPTY;
    bool reduces = a->collective >= LAYER_ALLREDUCE;
    if (reduces && !data_is_plain(a->recv_type))
        return LAYER_TYPE;
    return bytes > (reduces ? REDUCE_MOST : INT_MAX) / c->size ? LAYER_LONG
                                                               : LAYER_TAKEN;
}

static unsigned class_of(int64_t bytes)
{
    unsigned class = 0;
    while (class + 1 < LAYER_CLASSES && bytes >> (class + 1))
        class ++;
    return class;
}

static int make(struct layer_comm *c, const struct layer_call *a, int whose,
                int64_t bytes)
{
    layer.calls[a->collective]
               [whose == CONTEST_OURS ? LAYER_TAKEN : LAYER_SLOWER]++;
    return whose == CONTEST_OURS ? ours_run(c, a, (size_t)bytes)
                                 : layer_below(a);
}

enum layer_reason layer_judge(const struct layer_comm *c,
                              const struct layer_call *a, int64_t *bytes)
{
    *bytes = c->team ? block_bytes(c, a) : 0;
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
    if (!trial) {
        layer.saved += whose == CONTEST_OURS ? contest_gain(contest) : 0;
        return make(c, a, whose, bytes);
    }
    double start = PMPI_Wtime();
    int rc = make(c, a, whose, bytes);
    return rc ? rc
              : contest_took(contest, whose, PMPI_Wtime() - start, c->inner);
}

int layer_make(const struct layer_call *a)
{
    layer_begin();
    struct layer_comm *c =
        layer.off || layer.threads ? NULL : layer_comm_of(a->comm);
    if (!c) {
        layer.calls[a->collective][LAYER_COMM]++;
        return layer_below(a);
    }
    requests_prepare(c);
    int64_t bytes;
    enum layer_reason reason = layer_judge(c, a, &bytes);
    if (reason != LAYER_TAKEN) {
        layer.calls[a->collective][reason]++;
        return layer_below(a);
    }
    return layer.always ? make(c, a, CONTEST_OURS, bytes)
                        : contend(c, a, bytes);
}
