/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rail is lost after the call that used it has returned. Rank 0 has left a
 * barrier and waits for a message of MPI. Rank 1 is still in that barrier, as
 * what rank 0 sent it was lost. The layer believes that each rank has a node of
 * its own. Arguments: the folder of the rails' cables (DAPL_SHM_CABLES), and
 * the rail.
 */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/cable.h"

#define SECONDS 30 /* nobody waits longer */
#define ROUNDS  3  /* before */

int PMPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                         MPI_Comm *node)
{
    int rank;
    (void)type, (void)info;
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank, key, node);
}

/* Rank 1 is in the barrier by then. What is posted over a mute rail is lost. */
static int leave_behind(cable_t *cable)
{
    int token = 0;
    usleep(300000);
    int failed = cable_mute(cable, true);
    MPI_Barrier(MPI_COMM_WORLD);
    failed |= cable_pull(cable);
    MPI_Recv(&token, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return failed || token != 7;
}

int main(int argc, char **argv)
{
    int rank, token = 7, failures = 0;
    cable_t cable;
    alarm(SECONDS);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 3 || cable_grasp(&cable, argv[1], argv[2]))
        MPI_Abort(MPI_COMM_WORLD, 2);
    for (int i = 0; i < ROUNDS; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        failures = leave_behind(&cable);
    } else {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Send(&token, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    }
    if (rank == 0)
        printf("%d failures\n", failures);
    MPI_Finalize();
    return failures;
}
