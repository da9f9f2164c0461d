/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program's communicators of other kinds: "merged" with a process of
 * another MPI_COMM_WORLD, which it has spawned, and without the layer; "many"
 * at a time, each made when those before are in use. For
 * tests/integration/mpi_layer.sh.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TIMES   12
#define ALL     2048
#define MANY    1900
#define USED    160 /* of these: with another one for each they are too many */
#define SECONDS 60  /* nobody waits longer */

static int failures;

static void broadcast(MPI_Comm comm)
{
    int rank, size;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (int time = 0; time < TIMES; time++) {
        int root = time % size, wanted = 100 * root + time;
        int data = rank == root ? wanted : -1;
        MPI_Bcast(&data, 1, MPI_INT, root, comm);
        if (data == wanted)
            continue;
        failures++;
        fprintf(stderr, "rank %d: broadcast %d: wrong data\n", rank, time);
    }
}

/* Of the spawned program by its parents, or the other way. */
static void merged(MPI_Comm others, int high)
{
    MPI_Comm all;
    MPI_Intercomm_merge(others, high, &all);
    broadcast(all);
    MPI_Comm_free(&all);
    MPI_Comm_disconnect(&others);
}

static void spawn(char *program)
{
    char env[] = "env", unset[] = "-u", name[] = "LD_PRELOAD";
    char *arguments[] = {unset, name, program, NULL};
    MPI_Comm child;
    MPI_Comm_spawn(env, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &child,
                   MPI_ERRCODES_IGNORE);
    merged(child, 0);
}

/* So many, or as many as there are; those at the front are used, before others
 * are made, or those at the end when all are. */
static int make(MPI_Comm *comms, int most, int front, int end)
{
    int made = 0;
    while (made < most && !MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]))
        if (made++ < front)
            MPI_Barrier(comms[made - 1]);
    for (int i = made - end; i < made; i++) {
        MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_ARE_FATAL);
        MPI_Barrier(comms[i]);
    }
    return made;
}

static void many(void)
{
    static MPI_Comm comms[ALL];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (int made = make(comms, ALL, 0, 3); made > 0; made--)
        MPI_Comm_free(&comms[made - 1]);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int made = make(comms, MANY, USED, 0); made > 0; made--)
        MPI_Comm_free(&comms[made - 1]);
}

int main(int argc, char **argv)
{
    int all, rank;
    MPI_Comm parent;
    alarm(SECONDS);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL)
        merged(parent, 1);
    else if (argc > 1 && !strcmp(argv[1], "merged"))
        spawn(argv[0]);
    else
        many();
    MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%s%d failures\n",
               parent == MPI_COMM_NULL ? "" : "spawned: ", all);
    MPI_Finalize();
    return all != 0;
}
