/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank forks while libdcoll_mpi's progress thread runs. Argument: what the
 * child does, exit or finalize (MPI_Finalize, by accident, as in an atexit
 * handler of the program). The child must end soon, and later calls of its
 * parent be right. MPI's own MPI_Finalize may hang or crash in the child: there
 * it is replaced by nothing.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define FORKS   20
#define SECONDS 5 /* for a child to end */
#define N       64

static int failures;
static int is_child;

int PMPI_Finalize(void)
{
    int (*real)(void);
    *(void **)&real = dlsym(RTLD_NEXT, "PMPI_Finalize");
    return is_child ? MPI_SUCCESS : real();
}

static void check(int right, const char *what)
{
    if (!right)
        fprintf(stderr, "wrong: %s\n", what);
    failures += !right;
}

/* Calls that do not block: the first ones are left, and prepare later ones. */
static void gather(int rank, int size)
{
    int mine[N], all[N * 16];
    MPI_Request request;
    for (int i = 0; i < N; i++)
        mine[i] = rank * N + i;
    memset(all, -1, sizeof all);
    MPI_Iallgather(mine, N, MPI_INT, all, N, MPI_INT, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < N * size; i++)
        if (all[i] != i) {
            check(0, "gathered data");
            return;
        }
}

static void end_child(int finalizes)
{
    is_child = 1;
    if (finalizes)
        MPI_Finalize();
    exit(7);
}

/* Its status; -1: it has not ended in time. */
static int await(pid_t child)
{
    const struct timespec nap = {.tv_nsec = 1000000};
    int status;
    for (int i = 0; i < SECONDS * 1000; i++) {
        if (waitpid(child, &status, WNOHANG) == child)
            return status;
        nanosleep(&nap, NULL);
    }
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return -1;
}

int main(int argc, char **argv)
{
    int rank, size, all = 0;
    int finalizes = argc > 1 && !strcmp(argv[1], "finalize");
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < FORKS; i++) {
        gather(rank, size);
        MPI_Barrier(MPI_COMM_WORLD);
        pid_t child = fork();
        if (child == 0)
            end_child(finalizes);
        int status = await(child);
        check(status != -1, "the child hangs");
        check(status == -1 || !WIFSIGNALED(status), "the child has crashed");
        check(status == -1 || WIFSIGNALED(status) || WEXITSTATUS(status) == 7,
              "the child's status");
        if (failures)
            break;
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    MPI_Finalize();
    return failures;
}
