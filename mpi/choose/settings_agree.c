/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the ranks of MPI_COMM_WORLD agree on in MPI_Init. A rank without this
 * library does not come to that, so it is a non-blocking call, which no
 * blocking collective of that rank meets, with an end.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "mpi/layer.h"

#define MAGIC    0x64636f6c /* no call of a program has it */
#define LIMIT_NS INT64_C(10000000000)
#define STEP_NS                                                                \
    100000000               /* the most that one look counts: a process that   \
                               stands still does not wait */
#define YIELDS    1000      /* looks, before … */
#define NAP_NS    1000000   /* … naps between them */
#define SPREAD_NS 200000000 /* for the launcher to pass on what was said */

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

/* The job can't go on: a rank without the library would meet calls of ours. */
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

static bool is_done_in_time(MPI_Request *request)
{
    int64_t waited = 0, last = now_ns();
    int done = 0;
    for (unsigned looks = 0; !done && waited < LIMIT_NS; looks++) {
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

/* The greatest of all ranks'. */
static void most_of_all(const int *mine, int *most, int n)
{
    MPI_Request request;
    if (pmpi.Iallreduce(mine, most, n, MPI_INT, MPI_MAX, MPI_COMM_WORLD,
                        &request) ||
        !is_done_in_time(&request))
        refuse();
}

/* Ranks whose words or threads differ would wait for each other. */
void layer_agree(void)
{
    enum { THREADS, ELSEWHERE, SAID, SAID_LEAST, MAGIC_MOST, MAGIC_LEAST, N };
    layer_begin();
    const int said = layer.off | layer.always << 1 | layer.verify << 2 |
                     layer.inexact << 3 | layer.eager << 4;
    const int mine[N] = {[THREADS] = layer.threads,
                         [ELSEWHERE] = layer.completed_elsewhere,
                         [SAID] = said,
                         [SAID_LEAST] = -said,
                         [MAGIC_MOST] = MAGIC,
                         [MAGIC_LEAST] = -MAGIC};
    int most[N], rank;
    most_of_all(mine, most, N);
    if (most[MAGIC_MOST] != MAGIC || most[MAGIC_LEAST] != -MAGIC)
        refuse();
    layer.threads = most[THREADS];
    layer.completed_elsewhere = most[ELSEWHERE];
    if (most[SAID] == -most[SAID_LEAST])
        return;
    layer.off = true;
    if (!pmpi.Comm_rank(MPI_COMM_WORLD, &rank) && rank == 0)
        fprintf(stderr, "dcoll_mpi: DCOLL_MPI differs between ranks: all is "
                        "left to the MPI below\n");
}
