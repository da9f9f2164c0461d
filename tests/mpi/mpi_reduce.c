/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An ordinary MPI program's reductions: each type and operation, several
 * lengths, in place, by operations that do not commute; blocking, non-blocking
 * and persistent. It checks the results; floating-point numbers are small
 * integers.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST (1 << 18) /* elements */

static int rank, size, failures;

static void check(int good, const char *what, int n)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s of %d: wrong data\n", rank, what, n);
}

/* Element i of rank r, small and not 0. */
static int value(int r, int i)
{
    return 1 + (r * 7 + i) % 3;
}

enum op { SUM, PROD, MIN, MAX, LAND, LXOR, BOR, BXOR, OPS };

static int once(enum op op, int a, int b)
{
    switch (op) {
    case SUM:
        return a + b;
    case PROD:
        return a * b;
    case MIN:
        return a < b ? a : b;
    case MAX:
        return a > b ? a : b;
    case LAND:
        return a && b;
    case LXOR:
        return !a != !b;
    case BOR:
        return a | b;
    default:
        return a ^ b;
    }
}

static int expected(enum op op, int i)
{
    int all = value(0, i);
    for (int r = 1; r < size; r++)
        all = once(op, all, value(r, i));
    return all;
}

/* For a type of C: an array of values, and whether it holds the results. */
#define TYPE(name, type)                                                       \
    static void fill_##name(void *at, int n)                                   \
    {                                                                          \
        for (int i = 0; i < n; i++)                                            \
            ((type *)at)[i] = (type)value(rank, i);                            \
    }                                                                          \
    static int holds_##name(const void *at, enum op op, int n)                 \
    {                                                                          \
        for (int i = 0; i < n; i++)                                            \
            if (((const type *)at)[i] != (type)expected(op, i))                \
                return 0;                                                      \
        return 1;                                                              \
    }

TYPE(int, int)
TYPE(long, long)
TYPE(unsigned, unsigned)
TYPE(int8, int8_t)
TYPE(uint16, uint16_t)
TYPE(float, float)
TYPE(double, double)
TYPE(long_double, long double)

static const struct type {
    const char *name;
    void (*fill)(void *at, int n);
    int (*holds)(const void *at, enum op op, int n);
    size_t bytes;
    int real;
} types[] = {
    {"int", fill_int, holds_int, sizeof(int), 0},
    {"long", fill_long, holds_long, sizeof(long), 0},
    {"unsigned", fill_unsigned, holds_unsigned, sizeof(unsigned), 0},
    {"int8", fill_int8, holds_int8, 1, 0},
    {"uint16", fill_uint16, holds_uint16, 2, 0},
    {"float", fill_float, holds_float, sizeof(float), 1},
    {"double", fill_double, holds_double, sizeof(double), 1},
    {"long double", fill_long_double, holds_long_double, sizeof(long double),
     1},
};

enum { TYPES = sizeof types / sizeof *types };

static void *send, *recv;

static void reduce(const struct type *t, MPI_Datatype type, enum op o,
                   MPI_Op op, int n, int place, MPI_Comm comm)
{
    char *end = (char *)recv + (size_t)n * t->bytes;
    *end = 0x22;
    t->fill(place ? recv : send, n);
    MPI_Allreduce(place ? MPI_IN_PLACE : send, recv, n, type, op, comm);
    check(t->holds(recv, o, n) && *end == 0x22, t->name, n);
    const int root = n % size;
    const int in_place = place && rank == root;
    t->fill(in_place ? recv : send, n);
    MPI_Reduce(in_place ? MPI_IN_PLACE : send, rank == root ? recv : NULL, n,
               type, op, root, comm);
    check(rank != root || (t->holds(recv, o, n) && *end == 0x22), t->name, n);
}

static void all_types(MPI_Comm comm)
{
    const MPI_Datatype mpi[TYPES] = {MPI_INT,    MPI_LONG,       MPI_UNSIGNED,
                                     MPI_INT8_T, MPI_UINT16_T,   MPI_FLOAT,
                                     MPI_DOUBLE, MPI_LONG_DOUBLE};
    const MPI_Op ops[OPS] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,
                             MPI_LAND, MPI_LXOR, MPI_BOR, MPI_BXOR};
    for (int t = 0; t < TYPES; t++)
        for (int o = 0; o < OPS; o++) {
            if (types[t].real && o >= LAND)
                continue; /* MPI has them for integers alone */
            for (int n = 1; n < 3000; n = 6 * n + 1)
                reduce(&types[t], mpi[t], (enum op)o, ops[o], n, n & 1, comm);
        }
    for (int place = 0; place < 2; place++) {
        reduce(&types[0], MPI_INT, SUM, MPI_SUM, MOST, place, comm);
        reduce(&types[6], MPI_DOUBLE, MAX, MPI_MAX, MOST / 2, place, comm);
    }
}

/* x -> a x + b of pairs of unsigned numbers, one map after the other. */
static void compose(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const unsigned *first = in;
    unsigned *then = inout;
    for (int i = 0; i < *length; i++, first += 2, then += 2) {
        then[1] = first[0] * then[1] + first[1];
        then[0] *= first[0];
    }
    (void)type;
}

static void own_operation(int n, MPI_Datatype pair, MPI_Op op, int place,
                          MPI_Comm comm)
{
    unsigned *mine = place ? recv : send, *result = recv;
    int good = 1;
    for (int i = 0; i < n; i++) {
        mine[2 * i] = 2u * (unsigned)(rank + i) + 1;
        mine[2 * i + 1] = (unsigned)(rank * 31 + i);
    }
    MPI_Allreduce(place ? MPI_IN_PLACE : send, recv, n, pair, op, comm);
    for (int i = 0; i < n; i++) {
        unsigned a = 1, b = 0;
        for (int r = size - 1; r >= 0; r--) {
            b = (2u * (unsigned)(r + i) + 1) * b + (unsigned)(r * 31 + i);
            a *= 2u * (unsigned)(r + i) + 1;
        }
        good &= result[2 * i] == a && result[2 * i + 1] == b;
    }
    check(good, "own operation", n);
}

static void own_operations(MPI_Comm comm)
{
    MPI_Op op;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_UNSIGNED, &pair);
    MPI_Type_commit(&pair);
    MPI_Op_create(compose, 0, &op);
    for (int n = 1; n <= MOST / 2; n *= 8) {
        own_operation(n, pair, op, 0, comm);
        own_operation(n, pair, op, 1, comm);
    }
    MPI_Op_free(&op);
    MPI_Type_free(&pair);
}

/* Where the greatest is, and the first of equal ones. */
static void locations(MPI_Comm comm)
{
    struct {
        int value, index;
    } mine = {rank % 3, rank}, most;
    MPI_Allreduce(&mine, &most, 1, MPI_2INT, MPI_MAXLOC, comm);
    check(most.value == (size < 3 ? size - 1 : 2) &&
              most.index == (size < 3 ? size - 1 : 2),
          "location", 1);
}

/* The same call twice, and on all ranks. */
static void same_bits(MPI_Comm comm)
{
    double *mine = send, *sums = recv;
    double first[40];
    for (int n = 1; n <= 40; n++)
        for (int again = 0; again < 20; again++) {
            for (int i = 0; i < n; i++)
                mine[i] = (rank + 1) * (i % 2 ? 0.1 : 1e15) + i;
            MPI_Allreduce(mine, sums, n, MPI_DOUBLE, MPI_SUM, comm);
            if (!again)
                memcpy(first, sums, n * sizeof *first);
            if (!again)
                MPI_Bcast(first, n, MPI_DOUBLE, 0, comm);
            check(!memcmp(first, sums, n * sizeof *first), "same bits", n);
        }
}

/* What such calls need is prepared in blocking ones, when they have come twice:
 * several of each, with a barrier between them, while others are under way. */
static void not_blocking(MPI_Comm comm)
{
    enum { CALLS = 12, COUNT = 500, AT_ONCE = 3 };
    int *mine = send, *sums = recv;
    double *reals = (double *)send + MOST / 2;
    double *products = (double *)recv + MOST / 2;
    for (int call = 0; call < CALLS; call++) {
        MPI_Request requests[AT_ONCE];
        const int root = call % 2, place = call % 3 == 0;
        for (int i = 0; i < COUNT; i++) {
            mine[i] = sums[i] = value(rank, i);
            reals[i] = value(rank, i + 1);
        }
        MPI_Iallreduce(place ? MPI_IN_PLACE : mine, sums, COUNT, MPI_INT,
                       MPI_SUM, comm, &requests[0]);
        MPI_Ireduce(reals, rank == root ? products : NULL, COUNT, MPI_DOUBLE,
                    MPI_PROD, root, comm, &requests[1]);
        MPI_Ibarrier(comm, &requests[2]);
        MPI_Waitall(AT_ONCE, requests, MPI_STATUSES_IGNORE);
        int good = 1;
        for (int i = 0; i < COUNT; i++)
            good &= sums[i] == expected(SUM, i) &&
                    (rank != root || products[i] == expected(PROD, i + 1));
        check(good, "not blocking", COUNT);
        MPI_Barrier(comm);
    }
}

#if MPI_VERSION >= 4 || defined OPEN_MPI
static void persistent(MPI_Comm comm)
{
    enum { STARTS = 5, COUNT = 1000 };
    int *mine = send, *sums = recv;
    double *reals = (double *)send + MOST / 2;
    double *most = (double *)recv + MOST / 2;
    MPI_Request requests[2];
    const int root = size - 1;
    MPI_Allreduce_init(mine, sums, COUNT, MPI_INT, MPI_BXOR, comm,
                       MPI_INFO_NULL, &requests[0]);
    MPI_Reduce_init(reals, most, COUNT, MPI_DOUBLE, MPI_MAX, root, comm,
                    MPI_INFO_NULL, &requests[1]);
    for (int start = 0; start < STARTS; start++) {
        int good = 1;
        for (int i = 0; i < COUNT; i++) {
            mine[i] = value(rank, i + start);
            reals[i] = value(rank, i + 2 * start);
        }
        MPI_Startall(2, requests);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
        for (int i = 0; i < COUNT; i++)
            good &= sums[i] == expected(BXOR, i + start) &&
                    (rank != root || most[i] == expected(MAX, i + 2 * start));
        check(good, "persistent", COUNT);
    }
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
}
#endif

int main(int argc, char **argv)
{
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    send = malloc(MOST * sizeof(double) + 1);
    recv = malloc(MOST * sizeof(double) + 1);
    all_types(MPI_COMM_WORLD);
    own_operations(MPI_COMM_WORLD);
    locations(MPI_COMM_WORLD);
    same_bits(MPI_COMM_WORLD);
    not_blocking(MPI_COMM_WORLD);
#if MPI_VERSION >= 4 || defined OPEN_MPI
    persistent(MPI_COMM_WORLD);
#endif
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    free(send);
    free(recv);
    MPI_Finalize();
    return all != 0;
}
