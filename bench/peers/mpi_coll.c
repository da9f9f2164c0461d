/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives of an MPI library, for scripts/compare-coll: the loops of
 * railbench. A repetition is one collective, a barrier, then so many back to
 * back that they take about REPEAT_S; its figures are the maximum and the mean
 * over the ranks of each one's time. Then single ones are timed, as by
 * railbench --each: all ranks make the call at a time that they have agreed on;
 * the figure is the median of the times until the last has returned.
 * Each argument is one run, WHAT:BYTES:REPETITIONS with WHAT one of gather,
 * allgather, alltoall, bcast, reduce, allreduce, reduce_scatter_block, scan,
 * exscan (sums of doubles, in blocks of so many bytes), allgatherv, gatherv,
 * scatterv, reduce_scatter (the block of rank r has (r + 1)/N of the bytes, as
 * railbench --unequal), of these WHAT-persistent for a request (MPI 4),
 * alltoallw (blocks of so many bytes, between all ranks), neighbor_allgather,
 * neighbor_allgatherv, neighbor_alltoall, neighbor_alltoallv,
 * neighbor_alltoallw (the same, between neighbours on a line of ranks), or
 * alltoallv-PATTERN-ELEMENT:M:REPETITIONS, of elements of so many bytes, M
 * of them at most from one rank to another (railbench alltoallv), whose data
 * are checked before. Errors end the program: MPI_ERRORS_ARE_FATAL is MPI's
 * default.
 */
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "neighbor.h"
#include "run.h"
#include "vector.h"

#define BYTES_MAX       (UINT64_C(64) << 20)
#define REPETITIONS_MAX 1000
#define REPEAT_S        0.01
#define ITERATIONS_MAX  100000
/* of single calls, as in bench/coll/each.c */
#define EACH_S     0.01
#define EACH_LEAST 5
#define EACH_MOST  100
#define LATE_S     200e-9
#define LEAD_MAX_S 0.02

#define PERSISTENT "-persistent"
/* Open MPI 5 has them, though it says that it is of MPI 3.1 */
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif

typedef enum {
    GATHER,
    ALLGATHER,
    ALLGATHERV,
    GATHERV,
    SCATTERV,
    ALLTOALL,
    BCAST,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    REDUCE_SCATTER,
    SCAN,
    EXSCAN,
    NEIGHBOR, /* and so on, as neighbor_call_t */
    ALLTOALLV = NEIGHBOR + NEIGHBOR_CALLS,
    COLLECTIVES
} what_t;

static const char *const names[COLLECTIVES] = {
    [GATHER] = "gather",
    [ALLGATHER] = "allgather",
    [ALLGATHERV] = "allgatherv",
    [GATHERV] = "gatherv",
    [SCATTERV] = "scatterv",
    [ALLTOALL] = "alltoall",
    [BCAST] = "bcast",
    [REDUCE] = "reduce",
    [ALLREDUCE] = "allreduce",
    [REDUCE_SCATTER_BLOCK] = "reduce_scatter_block",
    [REDUCE_SCATTER] = "reduce_scatter",
    [SCAN] = "scan",
    [EXSCAN] = "exscan",
    [NEIGHBOR + ALLTOALLW] = "alltoallw",
    [NEIGHBOR + NEIGHBOR_ALLGATHER] = "neighbor_allgather",
    [NEIGHBOR + NEIGHBOR_ALLGATHERV] = "neighbor_allgatherv",
    [NEIGHBOR + NEIGHBOR_ALLTOALL] = "neighbor_alltoall",
    [NEIGHBOR + NEIGHBOR_ALLTOALLV] = "neighbor_alltoallv",
    [NEIGHBOR + NEIGHBOR_ALLTOALLW] = "neighbor_alltoallw",
    [ALLTOALLV] = "alltoallv"};

typedef struct coll_run {
    what_t what;
    bool persistent;
    uint64_t bytes, repetitions; /* alltoallv: elements */
    vector_run_t vector;
    const char *name; /* of what, as it was given */
} coll_run_t;

typedef struct world {
    int rank, ranks;
    bool crowded;      /* ranks share cores */
    double lead;       /* seconds that a common start is ahead, … */
    double first_lead; /* … at first */
    char *send, *recv;
    int *counts, *displs; /* of all ranks' unequal blocks, in elements */
    vector_t vector;      /* of the present run, if it is one */
    neighbor_t neighbor;  /* the same */
    MPI_Request request;  /* ... if it is persistent */
} world_t;

/* Parses the numbers behind the colon. */
static int parse_numbers(const char *text, coll_run_t *run)
{
    text = run_parse_number(text, BYTES_MAX, ':', &run->bytes);
    return !text ||
           !run_parse_number(text, REPETITIONS_MAX, '\0', &run->repetitions);
}

static bool is_unequal(const coll_run_t *run)
{
    return run->what == ALLGATHERV || run->what == GATHERV ||
           run->what == SCATTERV || run->what == REDUCE_SCATTER;
}

static bool is_neighbor_call(const coll_run_t *run)
{
    return run->what >= NEIGHBOR && run->what < ALLTOALLV;
}

static bool reduces(const coll_run_t *run)
{
    return run->what >= REDUCE && run->what <= EXSCAN;
}

static int parse(const char *text, coll_run_t *run)
{
    size_t begin = strlen(names[ALLTOALLV]), end = strlen(PERSISTENT);
    run->name = text;
    if (!strncmp(text, names[ALLTOALLV], begin) && text[begin] == '-') {
        run->what = ALLTOALLV;
        text = vector_parse(text + begin + 1, ':', &run->vector);
        return !text || parse_numbers(text, run);
    }
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    run->persistent = length > end && !strncmp(colon - end, PERSISTENT, end);
    length -= run->persistent ? end : 0;
    for (unsigned i = 0; i < ALLTOALLV; i++) {
        if (strlen(names[i]) != length || strncmp(text, names[i], length))
            continue;
        run->what = (what_t)i;
        return parse_numbers(colon + 1, run) ||
               (reduces(run) && run->bytes % sizeof(double)) ||
               (is_neighbor_call(run) && run->persistent);
    }
    return -1;
}

static void perform(const world_t *world, const coll_run_t *run)
{
    int bytes = (int)run->bytes, doubles = bytes / (int)sizeof(double);
    MPI_Request request = world->request;
    if (run->persistent) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    switch (run->what) {
    case GATHER:
        MPI_Gather(world->send, bytes, MPI_CHAR, world->recv, bytes, MPI_CHAR,
                   0, MPI_COMM_WORLD);
        break;
    case ALLGATHER:
        MPI_Allgather(world->send, bytes, MPI_CHAR, world->recv, bytes,
                      MPI_CHAR, MPI_COMM_WORLD);
        break;
    case ALLGATHERV:
        MPI_Allgatherv(world->send, world->counts[world->rank], MPI_CHAR,
                       world->recv, world->counts, world->displs, MPI_CHAR,
                       MPI_COMM_WORLD);
        break;
    case GATHERV:
        MPI_Gatherv(world->send, world->counts[world->rank], MPI_CHAR,
                    world->recv, world->counts, world->displs, MPI_CHAR, 0,
                    MPI_COMM_WORLD);
        break;
    case SCATTERV:
        MPI_Scatterv(world->send, world->counts, world->displs, MPI_CHAR,
                     world->recv, world->counts[world->rank], MPI_CHAR, 0,
                     MPI_COMM_WORLD);
        break;
    case BCAST:
        MPI_Bcast(world->recv, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
        break;
    case REDUCE:
        MPI_Reduce(world->send, world->recv, doubles, MPI_DOUBLE, MPI_SUM, 0,
                   MPI_COMM_WORLD);
        break;
    case ALLREDUCE:
        MPI_Allreduce(world->send, world->recv, doubles, MPI_DOUBLE, MPI_SUM,
                      MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block(world->send, world->recv, doubles, MPI_DOUBLE,
                                 MPI_SUM, MPI_COMM_WORLD);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter(world->send, world->recv, world->counts, MPI_DOUBLE,
                           MPI_SUM, MPI_COMM_WORLD);
        break;
    case SCAN:
        MPI_Scan(world->send, world->recv, doubles, MPI_DOUBLE, MPI_SUM,
                 MPI_COMM_WORLD);
        break;
    case EXSCAN:
        MPI_Exscan(world->send, world->recv, doubles, MPI_DOUBLE, MPI_SUM,
                   MPI_COMM_WORLD);
        break;
    case ALLTOALLV:
        vector_perform(&world->vector);
        break;
    case ALLTOALL:
        MPI_Alltoall(world->send, bytes, MPI_CHAR, world->recv, bytes, MPI_CHAR,
                     MPI_COMM_WORLD);
        break;
    default:
        neighbor_perform(&world->neighbor,
                         (neighbor_call_t)(run->what - NEIGHBOR), world->send,
                         world->recv);
        break;
    }
}

/* Has this MPI such requests? */
static bool make_request(world_t *world, const coll_run_t *run)
{
#if HAS_PERSISTENT
    int bytes = (int)run->bytes, doubles = bytes / (int)sizeof(double);
    MPI_Comm all = MPI_COMM_WORLD;
    switch (run->what) {
    case GATHER:
        MPI_Gather_init(world->send, bytes, MPI_CHAR, world->recv, bytes,
                        MPI_CHAR, 0, all, MPI_INFO_NULL, &world->request);
        break;
    case ALLGATHER:
        MPI_Allgather_init(world->send, bytes, MPI_CHAR, world->recv, bytes,
                           MPI_CHAR, all, MPI_INFO_NULL, &world->request);
        break;
    case ALLGATHERV:
        MPI_Allgatherv_init(world->send, world->counts[world->rank], MPI_CHAR,
                            world->recv, world->counts, world->displs, MPI_CHAR,
                            all, MPI_INFO_NULL, &world->request);
        break;
    case GATHERV:
        MPI_Gatherv_init(world->send, world->counts[world->rank], MPI_CHAR,
                         world->recv, world->counts, world->displs, MPI_CHAR, 0,
                         all, MPI_INFO_NULL, &world->request);
        break;
    case SCATTERV:
        MPI_Scatterv_init(world->send, world->counts, world->displs, MPI_CHAR,
                          world->recv, world->counts[world->rank], MPI_CHAR, 0,
                          all, MPI_INFO_NULL, &world->request);
        break;
    case BCAST:
        MPI_Bcast_init(world->recv, bytes, MPI_CHAR, 0, all, MPI_INFO_NULL,
                       &world->request);
        break;
    case REDUCE:
        MPI_Reduce_init(world->send, world->recv, doubles, MPI_DOUBLE, MPI_SUM,
                        0, all, MPI_INFO_NULL, &world->request);
        break;
    case ALLREDUCE:
        MPI_Allreduce_init(world->send, world->recv, doubles, MPI_DOUBLE,
                           MPI_SUM, all, MPI_INFO_NULL, &world->request);
        break;
    case REDUCE_SCATTER_BLOCK:
        MPI_Reduce_scatter_block_init(world->send, world->recv, doubles,
                                      MPI_DOUBLE, MPI_SUM, all, MPI_INFO_NULL,
                                      &world->request);
        break;
    case REDUCE_SCATTER:
        MPI_Reduce_scatter_init(world->send, world->recv, world->counts,
                                MPI_DOUBLE, MPI_SUM, all, MPI_INFO_NULL,
                                &world->request);
        break;
    case SCAN:
        MPI_Scan_init(world->send, world->recv, doubles, MPI_DOUBLE, MPI_SUM,
                      all, MPI_INFO_NULL, &world->request);
        break;
    case EXSCAN:
        MPI_Exscan_init(world->send, world->recv, doubles, MPI_DOUBLE, MPI_SUM,
                        all, MPI_INFO_NULL, &world->request);
        break;
    default:
        MPI_Alltoall_init(world->send, bytes, MPI_CHAR, world->recv, bytes,
                          MPI_CHAR, all, MPI_INFO_NULL, &world->request);
        break;
    }
    return true;
#else
    (void)world, (void)run;
    return false;
#endif
}

/* Seconds of this rank. */
static double timed(const world_t *world, const coll_run_t *run,
                    uint64_t iterations)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double start = run_now();
    for (uint64_t i = 0; i < iterations; i++)
        perform(world, run);
    return run_now() - start;
}

/* Of the slowest rank, twice: one of them may have been disturbed. */
static double slowest_of_two(const world_t *world, const coll_run_t *run,
                             uint64_t iterations)
{
    double mine[2], slowest[2];
    for (unsigned i = 0; i < 2; i++)
        mine[i] = timed(world, run, iterations);
    MPI_Allreduce(mine, slowest, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest[0] < slowest[1] ? slowest[0] : slowest[1];
}

/* All ranks find the same number. */
static uint64_t calibrate(const world_t *world, const coll_run_t *run)
{
    uint64_t iterations = 1;
    double slowest = slowest_of_two(world, run, iterations);
    while (slowest < REPEAT_S / 4 && iterations < ITERATIONS_MAX) {
        iterations *= 4;
        slowest = slowest_of_two(world, run, iterations);
    }
    double wanted = REPEAT_S * (double)iterations / slowest;
    return wanted < 1                ? 1
           : wanted > ITERATIONS_MAX ? ITERATIONS_MAX
                                     : (uint64_t)wanted;
}

static void wait_until(const world_t *world, double start)
{
    while (world->crowded && run_now() < start)
        sched_yield();
    while (run_now() < start)
        ;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Values of a call that are combined over all ranks: the latest time, the
 * longest call, whether any rank was late. */
enum { NOW, TOOK, LATE, MISSED, TOLD };

/* Seconds of single calls after a common start, the median; one that a rank
 * came too late for is done again, but not for ever. *kept_late: the part of
 * them for which one did, which is in their time. */
static double each(world_t *world, const coll_run_t *run, double call,
                   double *kept_late)
{
    /* it grows where the start is past when a rank comes, and shrinks again */
    world->lead /= 2;
    if (world->lead < world->first_lead)
        world->lead = world->first_lead;
    double wanted = EACH_S / (call + world->lead), us[EACH_MOST];
    unsigned late = 0, got = 0,
             n = wanted < EACH_LEAST  ? EACH_LEAST
                 : wanted > EACH_MOST ? EACH_MOST
                                      : (unsigned)wanted;
    double mine[TOLD] = {run_now()}, all[TOLD];
    MPI_Allreduce(mine, all, TOLD, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (unsigned tries = 0; got < n; tries++) {
        double start = all[NOW] + world->lead, came = run_now();
        wait_until(world, start);
        double now = run_now();
        perform(world, run);
        mine[NOW] = run_now();
        mine[TOOK] = mine[NOW] - start;
        mine[MISSED] = came > start;
        mine[LATE] = came > start || (!world->crowded && now > start + LATE_S);
        MPI_Allreduce(mine, all, TOLD, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        if (all[MISSED] > 0 && 2 * world->lead <= LEAD_MAX_S)
            world->lead *= 2;
        if (all[LATE] > 0 && tries < n)
            continue;
        us[got++] = all[TOOK];
        late += all[LATE] > 0;
    }
    *kept_late = (double)late / n;
    qsort(us, n, sizeof *us, ascending);
    return (us[(n - 1) / 2] + us[n / 2]) / 2;
}

/* -1: too many elements. */
static int set_counts(world_t *world, uint64_t elements)
{
    uint64_t at = 0;
    for (int r = 0; r < world->ranks; r++) {
        uint64_t count = elements * (uint64_t)(r + 1) / (uint64_t)world->ranks;
        world->counts[r] = (int)count;
        world->displs[r] = (int)at;
        at += count;
        if (at > INT_MAX)
            return -1;
    }
    return 0;
}

static void prepare(world_t *world, const coll_run_t *run)
{
    if (is_unequal(run) &&
        set_counts(world, run->bytes / (reduces(run) ? sizeof(double) : 1))) {
        fprintf(stderr, "mpi_coll: too many bytes\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (run->persistent && !make_request(world, run)) {
        fprintf(stderr, "mpi_coll: %s: this MPI has none\n", run->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (is_neighbor_call(run) && neighbor_open(&world->neighbor, run->bytes)) {
        fprintf(stderr, "mpi_coll: out of memory, or too many bytes\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (run->what != ALLTOALLV)
        return;
    if (vector_open(&world->vector, &run->vector, run->bytes)) {
        fprintf(stderr, "mpi_coll: out of memory, or too many elements\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    if (vector_check(&world->vector)) {
        fprintf(stderr, "mpi_coll: %s: wrong data\n", run->name);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void measure(world_t *world, const coll_run_t *run)
{
    uint64_t iterations = calibrate(world, run);
    for (uint64_t i = 0; i < run->repetitions; i++) {
        double slowest, sum;
        perform(world, run);
        double mine = timed(world, run, iterations);
        double scale = 1e6 / (double)iterations;
        MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
        MPI_Reduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
        double kept_late;
        double single =
            each(world, run, slowest / (double)iterations, &kept_late);
        if (world->rank == 0)
            printf("%.*s,%zu,%zu,%.6g,%.6g,%.6g,%.3g\n",
                   (int)strcspn(run->name, ":"), run->name, (size_t)run->bytes,
                   (size_t)iterations, slowest * scale,
                   sum * scale / world->ranks, single * 1e6, kept_late);
    }
}

static void print_header(const world_t *world)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, core = run_core();
    int *cores = calloc((size_t)world->ranks, sizeof *cores);
    if (!cores)
        MPI_Abort(MPI_COMM_WORLD, 1);
    MPI_Get_library_version(library, &length);
    MPI_Gather(&core, 1, MPI_INT, cores, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (world->rank == 0) {
        run_print_library(library, cores, world->ranks);
        puts("what,bytes,iterations,latency_us,latency_us_avg,each_us,"
             "kept_late");
    }
    free(cores);
}

static coll_run_t *parse_all(int nargs, char **args, size_t *longest)
{
    coll_run_t *runs = calloc((size_t)nargs + 1, sizeof *runs);
    for (int i = 0; runs && i < nargs; i++) {
        if (parse(args[i], &runs[i])) {
            fprintf(stderr,
                    "'%s' is wrong; allowed: "
                    "gather|allgather|allgatherv|gatherv|scatterv|alltoall|"
                    "bcast|reduce|allreduce|reduce_scatter_block|"
                    "reduce_scatter|scan|exscan[-persistent], "
                    "alltoallw|neighbor_allgather|neighbor_allgatherv|"
                    "neighbor_alltoall|neighbor_alltoallv|neighbor_alltoallw"
                    ":BYTES:REPETITIONS, bytes from 1 to 64 MiB, "
                    "of reductions whole doubles, repetitions from 1 to %d, "
                    "or "
                    "alltoallv-PATTERN-ELEMENT:M:REPETITIONS\n",
                    args[i], REPETITIONS_MAX);
            exit(2);
        }
        if (runs[i].what != ALLTOALLV && runs[i].bytes > *longest)
            *longest = runs[i].bytes;
    }
    if (!runs || !nargs) {
        fprintf(stderr, "allowed: a list of WHAT:BYTES:REPETITIONS\n");
        exit(2);
    }
    return runs;
}

static bool share_cores(int ranks)
{
    cpu_set_t allowed;
    return !sched_getaffinity(0, sizeof allowed, &allowed) &&
           ranks > CPU_COUNT(&allowed);
}

int main(int argc, char **argv)
{
    world_t world = {.request = MPI_REQUEST_NULL};
    size_t longest = 0;

    run_guard();
    coll_run_t *runs = parse_all(argc - 1, argv + 1, &longest);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world.ranks);
    world.crowded = share_cores(world.ranks);
    world.lead = world.first_lead = 100e-6 + 20e-6 * world.ranks;
    run_pin(world.rank);
    const size_t blocks = world.ranks > 2 ? (size_t)world.ranks : 2;
    world.send = run_buffer(longest * blocks + 1);
    world.recv = run_buffer(longest * blocks + 1);
    world.counts = calloc((size_t)world.ranks, sizeof *world.counts);
    world.displs = calloc((size_t)world.ranks, sizeof *world.displs);
    if (!world.send || !world.recv || !world.counts || !world.displs) {
        fprintf(stderr, "mpi_coll: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    print_header(&world);
    for (int i = 0; i < argc - 1; i++) {
        prepare(&world, &runs[i]);
        measure(&world, &runs[i]);
        if (runs[i].what == ALLTOALLV)
            vector_close(&world.vector);
        if (is_neighbor_call(&runs[i]))
            neighbor_close(&world.neighbor);
        if (runs[i].persistent)
            MPI_Request_free(&world.request);
    }
    MPI_Finalize();
    free(world.send);
    free(world.recv);
    free(runs);
    return 0;
}
