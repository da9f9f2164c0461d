/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcasts of types that MPI_Type_get_envelope and MPI_Type_get_contents
 * refuse, or whose parts nobody may free: types made with large counts, and
 * those of Fortran with a precision. And of types of addresses: MPI_BOTTOM,
 * with which they go, is no missing buffer.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define TIMES 12
#define MOST  64 /* doubles */

static int rank, failures;
static double data[MOST];

/* Element @i is in its place, from double to double @step, and nothing else. */
static int holds(int n, int step, int time)
{
    for (int i = 0; i < MOST; i++)
        if (data[i] != (i % step || i / step >= n ? -1 : i + time))
            return 0;
    return 1;
}

/* Has it @n doubles, so far apart? @at: data, or MPI_BOTTOM. */
static void broadcast_at(const char *name, void *at, MPI_Datatype type, int n,
                         int step)
{
    MPI_Type_commit(&type);
    for (int time = 0; time < TIMES; time++) {
        for (int i = 0; i < MOST; i++)
            data[i] = rank || i % step || i / step >= n ? -1 : i + time;
        MPI_Bcast(at, 1, type, 0, MPI_COMM_WORLD);
        if (holds(n, step, time))
            continue;
        failures++;
        fprintf(stderr, "rank %d: %s: wrong data\n", rank, name);
    }
}

static void broadcast(const char *name, MPI_Datatype type, int n, int step)
{
    broadcast_at(name, data, type, n, step);
}

static void of_addresses(void)
{
    const int lengths[] = {1, 1, 1, 1};
    MPI_Aint at[4];
    MPI_Datatype type;
    for (int i = 0; i < 4; i++)
        MPI_Get_address(data + 3L * i, &at[i]);
    MPI_Type_create_hindexed(4, lengths, at, MPI_DOUBLE, &type);
    broadcast_at("addresses", MPI_BOTTOM, type, 4, 3);
    MPI_Type_free(&type);
}

static void of_fortran(void)
{
    MPI_Datatype real, three;
    if (MPI_Type_create_f90_real(15, MPI_UNDEFINED, &real))
        return;
    broadcast("a real of Fortran", real, 1, 1);
    MPI_Type_contiguous(3, real, &three);
    broadcast("three of them", three, 3, 1);
    MPI_Type_free(&three);
}

static void of_large_counts(void)
{
#if MPI_VERSION >= 4
    const MPI_Count two = 2, none = 0;
    const MPI_Datatype number = MPI_DOUBLE;
    MPI_Datatype plain, copy, twice, vector, record;
    MPI_Type_contiguous_c(5, MPI_DOUBLE, &plain);
    MPI_Type_dup(plain, &copy);
    MPI_Type_contiguous(2, plain, &twice);
    MPI_Type_vector_c(4, 1, 3, MPI_DOUBLE, &vector);
    MPI_Type_create_struct_c(1, &two, &none, &number, &record);
    broadcast("contiguous", plain, 5, 1);
    broadcast("its copy", copy, 5, 1);
    broadcast("two of it", twice, 10, 1);
    broadcast("vector", vector, 4, 3);
    broadcast("struct", record, 2, 1);
    MPI_Type_free(&plain);
    MPI_Type_free(&copy);
    MPI_Type_free(&twice);
    MPI_Type_free(&vector);
    MPI_Type_free(&record);
#endif
}

int main(int argc, char **argv)
{
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    of_addresses();
    of_large_counts();
    of_fortran();
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return all != 0;
}
