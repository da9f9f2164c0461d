/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that a compiler makes of Open MPI's Fortran, whose own library need
 * not be here: those that are taken over. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N 4

typedef MPI_Fint fint;

#pragma weak mpi_allgather_
#pragma weak ompi_allgather_f
#pragma weak mpi_bcast__
#pragma weak mpi_allreduce
#pragma weak MPI_BARRIER
#pragma weak mpi_comm_free_
#pragma weak mpi_finalize_
void mpi_allgather_(void *, fint *, fint *, void *, fint *, fint *, fint *,
                    fint *);
void ompi_allgather_f(void *, fint *, fint *, void *, fint *, fint *, fint *,
                      fint *);
void mpi_bcast__(void *, fint *, fint *, fint *, fint *, fint *);
void mpi_allreduce(void *, void *, fint *, fint *, fint *, fint *, fint *);
void MPI_BARRIER(fint *, fint *);
void mpi_comm_free_(fint *, fint *);
void mpi_finalize_(fint *);

int mpi_fortran_in_place_; /* a common block; its address counts */

int main(int argc, char **argv)
{
    int rank, size, all, failures = 0, sent[N], got[64 * N];
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    fint comm = MPI_Comm_c2f(copy), type = MPI_Type_c2f(MPI_INT), n = N;
    fint op = MPI_Op_c2f(MPI_SUM), root = size - 1, error = -1;
    for (int i = 0; i < N; i++)
        sent[i] = 10 * rank + i;
    mpi_allgather_(sent, &n, &type, got, &n, &type, &comm, &error);
    for (int i = 0; i < size * N; i++)
        failures += error || got[i] != 10 * (i / N) + i % N;
    memset(got, 0, sizeof got);
    memcpy(got + rank * N, sent, sizeof sent);
    ompi_allgather_f(&mpi_fortran_in_place_, &n, &type, got, &n, &type, &comm,
                     NULL);
    for (int i = 0; i < size * N; i++)
        failures += got[i] != 10 * (i / N) + i % N;
    mpi_allreduce(sent, got, &n, &type, &op, &comm, &error);
    for (int i = 0; i < N; i++)
        failures += error || got[i] != 5 * size * (size - 1) + size * i;
    mpi_bcast__(sent, &n, &type, &root, &comm, &error);
    for (int i = 0; i < N; i++)
        failures += error || sent[i] != 10 * root + i;
    MPI_BARRIER(&comm, &error);
    mpi_comm_free_(&comm, &error);
    failures += error || comm != MPI_Comm_c2f(MPI_COMM_NULL);
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    mpi_finalize_(&error);
    return all || error;
}
