/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In MPI_Init the ranks of MPI_COMM_WORLD agree on the settings. A rank that
 * lacks this library does not take part. So this is a non-blocking call with a
 * time limit: blocking collectives of that rank do not match it.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/layer.h"

#define MAGIC 0x64636f6c /* sent by this library only */
#define STEP_NS                                                                \
    100000000               /* at most, of one look: a process that was        \
                               stopped has not waited */
#define YIELDS    1000      /* looks that yield; later ones sleep … */
#define NAP_NS    1000000   /* … for so long */
#define SPREAD_NS 200000000 /* until the launcher has printed the message */

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static void nap(long ns)
{
    nanosleep(&(struct timespec){.tv_nsec = ns}, NULL);
}

/* The job can't go on: collectives of a rank without the library would match
 * calls of this library. */
static void refuse(void)
{
    int rank = -1;
    pmpi.Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr,
            "dcoll_mpi: rank %d of MPI_COMM_WORLD: not all ranks have this "
            "library: preload it in all of them, or in none (LD_PRELOAD)\n",
            rank);
    nap(SPREAD_NS);
    pmpi.Abort(MPI_COMM_WORLD, 2);
    exit(2);
}

/* The other ranks come as soon as they can be connected, or not at all. */
static int64_t limit_ns(void)
{
    drail_config_t rails;
    drail_config_init(&rails);
    return rails.connect_timeout_ms * INT64_C(1000000);
}

static bool is_done_in_time(MPI_Request *request)
{
    const int64_t limit = limit_ns();
    int64_t waited = 0, last = now_ns();
    int done = 0;
    for (unsigned looks = 0; !done && waited < limit; looks++) {
        if (pmpi.Test(request, &done, MPI_STATUS_IGNORE))
            return false;
        if (looks < YIELDS)
            sched_yield();
        else
            nap(NAP_NS);
        int64_t now = now_ns();
        waited += now - last < STEP_NS ? now - last : STEP_NS;
        last = now;
    }
    return done;
}

/* The maximum over all ranks, of each element. */
static void most_of_all(const int *mine, int *most, int n)
{
    MPI_Request request;
    if (pmpi.Iallreduce(mine, most, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                        &request) ||
        !is_done_in_time(&request))
        refuse();
}

/* Ranks with different settings would wait for each other. */
void settings_agree(void)
{
    enum { THREADS, INTERCEPTED, WORDS, WORDS_MIN, MAGIC_MAX, MAGIC_MIN, N };
    layer_setup();
    const int words = layer.off | layer.always << 1 | layer.verify << 2 |
                      layer.inexact << 3 | layer.eager << 4;
    const int mine[N] = {
        [THREADS] = layer.threads, [INTERCEPTED] = layer.intercepted,
        [WORDS] = words,           [WORDS_MIN] = -words,
        [MAGIC_MAX] = MAGIC,       [MAGIC_MIN] = -MAGIC};
    int most[N], rank;
    most_of_all(mine, most, N);
    if (most[MAGIC_MAX] != MAGIC || most[MAGIC_MIN] != -MAGIC)
        refuse();
    layer.threads = most[THREADS];
    layer.intercepted = most[INTERCEPTED];
    if (most[WORDS] == -most[WORDS_MIN])
        return;
    layer.off = true;
    if (!pmpi.Comm_rank(MPI_COMM_WORLD, &rank) && rank == 0)
        fprintf(stderr, "dcoll_mpi: DCOLL_MPI differs between ranks: the "
                        "program's MPI makes all calls\n");
}
