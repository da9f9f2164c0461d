/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks of an MPI library, for scripts/compare-p2p: the loops that people
 * know from the OSU micro-benchmarks (osu_latency, osu_bw, osu_put_bw).
 * Source and target are memory that the library has allocated, as ours are.
 * Errors end the program: MPI_ERRORS_ARE_FATAL is MPI's default.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

typedef struct side {
    int rank, peer;
    char *source, *target; /* both in this rank's part of the window */
    MPI_Win window;
    uint64_t message; /* of the run, the next window's first */
} side_t;

static void ping_pong(const side_t *side, const run_t *run)
{
    int bytes = (int)run->bytes;
    if (side->rank == 0)
        MPI_Send(side->source, bytes, MPI_CHAR, side->peer, 0, MPI_COMM_WORLD);
    MPI_Recv(side->target, bytes, MPI_CHAR, side->peer, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    if (side->rank == 1)
        MPI_Send(side->source, bytes, MPI_CHAR, side->peer, 0, MPI_COMM_WORLD);
}

/* The answer to a window. */
static void send_empty(const side_t *side)
{
    MPI_Send(NULL, 0, MPI_CHAR, side->peer, 1, MPI_COMM_WORLD);
}

static void receive_empty(const side_t *side)
{
    MPI_Recv(NULL, 0, MPI_CHAR, side->peer, 1, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
}

static void send_window(const side_t *side, const run_t *run)
{
    MPI_Request requests[RUN_WINDOW];
    MPI_Status statuses[RUN_WINDOW];
    int bytes = (int)run->bytes;
    for (int i = 0; i < RUN_WINDOW; i++) {
        size_t place = run_place(run, side->message + (uint64_t)i);
        if (side->rank == 0)
            MPI_Isend(side->source + place, bytes, MPI_CHAR, side->peer, 0,
                      MPI_COMM_WORLD, &requests[i]);
        else
            MPI_Irecv(side->target + place, bytes, MPI_CHAR, side->peer, 0,
                      MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(RUN_WINDOW, requests, statuses);
    if (side->rank == 0) {
        receive_empty(side);
    } else {
        run_look(run, side->target, side->message);
        send_empty(side);
    }
}

/* The target has nothing to do but to wait in the barrier behind the run,
 * unless it reads. */
static void put_target(const side_t *side, const run_t *run)
{
    if (!run->read)
        return;
    receive_empty(side);
    MPI_Win_sync(side->window);
    run_look(run, side->target, side->message);
    send_empty(side);
}

static void put_window(const side_t *side, const run_t *run)
{
    int bytes = (int)run->bytes;
    if (side->rank != 0) {
        put_target(side, run);
        return;
    }
    for (int i = 0; i < RUN_WINDOW; i++) {
        size_t place = run_place(run, side->message + (uint64_t)i);
        MPI_Put(side->source + place, bytes, MPI_CHAR, side->peer,
                (MPI_Aint)place, bytes, MPI_CHAR, side->window);
    }
    MPI_Win_flush(side->peer, side->window);
    if (run->read) {
        send_empty(side);
        receive_empty(side);
    }
}

static void step(side_t *side, const run_t *run)
{
    static void (*const steps[])(const side_t *, const run_t *) = {
        [RUN_LAT] = ping_pong,
        [RUN_BW] = send_window,
        [RUN_PUT] = put_window,
    };
    steps[run->what](side, run);
    side->message += RUN_WINDOW;
}

static double measure(side_t *side, const run_t *run)
{
    uint64_t iterations =
        run->what == RUN_LAT ? run->messages : run->messages / RUN_WINDOW;

    MPI_Barrier(MPI_COMM_WORLD);
    side->message = 0;
    for (uint64_t i = run_warmup(iterations); i > 0; i--)
        step(side, run);
    double start = run_now();
    for (uint64_t i = iterations; i > 0; i--)
        step(side, run);
    double seconds = run_now() - start;
    MPI_Barrier(MPI_COMM_WORLD);
    return seconds;
}

static void print_header(int rank)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, core = run_core(), cores[2];
    MPI_Get_library_version(library, &length);
    MPI_Gather(&core, 1, MPI_INT, cores, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (rank == 0)
        run_print_header(library, cores);
}

int main(int argc, char **argv)
{
    side_t side;
    int ranks;

    run_guard();
    run_t *runs = run_parse_all(argc - 1, argv + 1);
    size_t capacity = run_pages(run_capacity(runs, argc - 1));

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &side.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    run_pin(side.rank);
    if (ranks != 2) {
        fprintf(stderr, "mpi_p2p: %d ranks; allowed: 2\n", ranks);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    side.peer = 1 - side.rank;
    MPI_Win_allocate((MPI_Aint)(2 * capacity), 1, MPI_INFO_NULL, MPI_COMM_WORLD,
                     &side.target, &side.window);
    side.source = side.target + capacity;
    memset(side.target, 0, capacity);
    /* not zeros: an EPYC writes these to memory twice as fast as other bytes,
     * where a library copies with non-temporal stores */
    memset(side.source, 1, capacity);
    MPI_Win_lock_all(0, side.window);

    print_header(side.rank);
    for (int i = 0; i < argc - 1; i++) {
        double seconds = measure(&side, &runs[i]);
        if (side.rank == 0)
            run_print(&runs[i], seconds);
    }

    MPI_Win_unlock_all(side.window);
    MPI_Win_free(&side.window);
    MPI_Finalize();
    free(runs);
    return 0;
}
