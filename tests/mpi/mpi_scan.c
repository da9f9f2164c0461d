/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program's scans and reduce-scatters of equal blocks: int,
 * double and an operation that does not commute; in place on no rank, on all or
 * on some; blocking, non-blocking and persistent. It checks the results, and
 * the bytes behind them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40000, WORDS = 2 }; /* elements of a block; numbers of one */

static int rank, size, failures;
static double *send, *recv;

static const char *const names[] = {"reduce_scatter_block", "scan", "exscan"};
enum kind { BLOCK, SCAN, EXSCAN, KINDS };

/* ------------------------------------------------------------- elements --- */

/* x -> a x + b, one map after the other; a is 1 or -1, so all is exact. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const double *first = in;
    double *then = inout;
    for (int i = 0; i < *length; i++, first += WORDS, then += WORDS) {
        then[1] += first[1] * then[0];
        then[0] *= first[0];
    }
    (void)type;
}

/* Number w of element i that rank r gives. */
static double value(int r, int i, int w)
{
    return w ? (r * 7 + i) % 5 + 1 : (r + i) % 3 ? 1 : -1;
}

struct what {
    MPI_Datatype type;
    MPI_Op op;
    size_t bytes; /* of an element */
};

static void put(const struct what *what, void *buffer, int at, int r, int i)
{
    double pair[WORDS] = {value(r, i, 0), value(r, i, 1)};
    int number = (int)pair[1];
    const void *from = what->type == MPI_INT      ? (void *)&number
                       : what->type == MPI_DOUBLE ? (void *)&pair[1]
                                                  : (void *)pair;
    memcpy((char *)buffer + (size_t)at * what->bytes, from, what->bytes);
}

/* Element i of the blocks of ranks 0 … last, combined. */
static int is_right(const struct what *what, const void *buffer, int at,
                    int last, int i)
{
    double all[WORDS] = {value(0, i, 0), value(0, i, 1)}, sum = all[1];
    int one = 1, number;
    for (int r = 1; r <= last; r++) {
        double next[WORDS] = {value(r, i, 0), value(r, i, 1)};
        sum += next[1];
        compose(all, next, &one, NULL);
        memcpy(all, next, sizeof all);
    }
    number = (int)sum;
    const void *wanted = what->type == MPI_INT      ? (void *)&number
                         : what->type == MPI_DOUBLE ? (void *)&sum
                                                    : (void *)all;
    return !memcmp((const char *)buffer + (size_t)at * what->bytes, wanted,
                   what->bytes);
}

/* ---------------------------------------------------------------- calls --- */

static int blocks_of(enum kind kind)
{
    return kind == BLOCK ? size : 1;
}

static void fill(enum kind kind, const struct what *what, void *from, int n)
{
    memset(recv, 0x55, (size_t)MOST * sizeof *recv);
    for (int i = 0; i < blocks_of(kind) * n; i++)
        put(what, from, i, rank, i);
}

static void check(enum kind kind, const struct what *what, int in_place, int n)
{
    const int has = kind != EXSCAN || rank > 0;
    const int last = kind == BLOCK ? size - 1 : kind == SCAN ? rank : rank - 1;
    const size_t end =
        (size_t)(in_place ? blocks_of(kind) : has) * (size_t)n * what->bytes;
    int good = ((const unsigned char *)recv)[end] == 0x55;
    for (int i = 0; has && i < n; i++)
        good &= is_right(what, recv, i, last, kind == BLOCK ? rank * n + i : i);
    if (good)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s of %d elements of %zu, in place %d: wrong\n",
            rank, names[kind], n, what->bytes, in_place);
}

static int run(enum kind kind, const struct what *what, const void *from, int n,
               MPI_Request *request)
{
    static int (*const now[])(const void *, void *, int, MPI_Datatype, MPI_Op,
                              MPI_Comm) = {MPI_Reduce_scatter_block, MPI_Scan,
                                           MPI_Exscan};
    static int (*const later[])(const void *, void *, int, MPI_Datatype, MPI_Op,
                                MPI_Comm, MPI_Request *) = {
        MPI_Ireduce_scatter_block, MPI_Iscan, MPI_Iexscan};
    return request
               ? later[kind](from, recv, n, what->type, what->op,
                             MPI_COMM_WORLD, request)
               : now[kind](from, recv, n, what->type, what->op, MPI_COMM_WORLD);
}

/* places: 0: in place on no rank, 1: on all, 2: on odd ranks */
static void call(enum kind kind, const struct what *what, int places, int n,
                 int blocking)
{
    const int in_place = places == 1 || (places == 2 && rank % 2);
    MPI_Request request;
    fill(kind, what, in_place ? recv : send, n);
    run(kind, what, in_place ? MPI_IN_PLACE : send, n,
        blocking ? NULL : &request);
    if (!blocking)
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(kind, what, in_place, n);
}

static void all_calls(const struct what *what)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int places = 0; places < 3; places++) {
            for (int n = 1; n * WORDS * blocks_of((enum kind)kind) < MOST;
                 n = 7 * n + 2)
                for (int again = 0; again < 2; again++)
                    call((enum kind)kind, what, places, n, 1);
            /* prepared after two misses, in a blocking call */
            for (int again = 0; again < 8; again++) {
                call((enum kind)kind, what, places, 100, 0);
                MPI_Barrier(MPI_COMM_WORLD);
            }
        }
}

/* Each rank decides in each call whether it is in place. */
static void in_place_at_times(const struct what *what)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int again = 0; again < 4; again++) {
            call((enum kind)kind, what, rank == 0 && again % 2, 50, 0);
            MPI_Barrier(MPI_COMM_WORLD);
        }
}

#if MPI_VERSION >= 4 || defined OPEN_MPI
static void persistent(const struct what *what)
{
    static int (*const init[])(const void *, void *, int, MPI_Datatype, MPI_Op,
                               MPI_Comm, MPI_Info, MPI_Request *) = {
        MPI_Reduce_scatter_block_init, MPI_Scan_init, MPI_Exscan_init};
    enum { COUNT = 300 };
    for (int kind = 0; kind < KINDS; kind++) {
        MPI_Request request;
        init[kind](send, recv, COUNT, what->type, what->op, MPI_COMM_WORLD,
                   MPI_INFO_NULL, &request);
        for (int start = 0; start < 4; start++) {
            fill((enum kind)kind, what, send, COUNT);
            MPI_Start(&request);
            MPI_Wait(&request, MPI_STATUS_IGNORE);
            check((enum kind)kind, what, 0, COUNT);
        }
        MPI_Request_free(&request);
    }
}
#endif

int main(int argc, char **argv)
{
    int all;
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    send = malloc(MOST * sizeof *send);
    recv = malloc((MOST + 1) * sizeof *recv);
    MPI_Type_contiguous(WORDS, MPI_DOUBLE, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    const struct what whats[] = {{MPI_INT, MPI_SUM, sizeof(int)},
                                 {MPI_DOUBLE, MPI_SUM, sizeof(double)},
                                 {pair, op, WORDS * sizeof(double)}};
    for (int i = 0; i < 3; i++) {
        all_calls(&whats[i]);
        in_place_at_times(&whats[i]);
#if MPI_VERSION >= 4 || defined OPEN_MPI
        persistent(&whats[i]);
#endif
    }
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
    free(send);
    free(recv);
    MPI_Finalize();
    return all != 0;
}
