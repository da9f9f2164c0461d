/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * In one call, rank FAULTY does not send to itself as much as it receives from
 * itself. Where libdcoll does not make that call, the MPI below may accept it.
 * All calls after it are right: the ranks must still choose the same side for
 * each, and get the right data. Arguments: names of cases. Whether an MPI
 * serves a case is found without the library.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    RANKS = 3,
    COUNT = 4,
    CALLS = 20,
    WRONG = 2, /* the number of the wrong call */
    FAULTY = 1,
    SECONDS = 20
};

static int rank;
static int send[RANKS * (COUNT + 1)], recv[RANKS * (COUNT + 1)];

static void check(const char *name, int call, int good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "rank %d: %s, call %d: %s\n", rank, name, call, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* @wrong: 1 in the wrong call of rank FAULTY, else 0. */
typedef int make(MPI_Comm comm, int wrong);

static int alltoall_less(MPI_Comm comm, int wrong)
{
    return MPI_Alltoall(send, COUNT - wrong, MPI_INT, recv, COUNT, MPI_INT,
                        comm);
}

static int alltoall_more(MPI_Comm comm, int wrong)
{
    return MPI_Alltoall(send, COUNT + wrong, MPI_INT, recv, COUNT, MPI_INT,
                        comm);
}

static int allgather_less(MPI_Comm comm, int wrong)
{
    return MPI_Allgather(send, COUNT - wrong, MPI_INT, recv, COUNT, MPI_INT,
                         comm);
}

static int gather_less(MPI_Comm comm, int wrong)
{
    return MPI_Gather(send, COUNT - wrong, MPI_INT, recv, COUNT, MPI_INT,
                      FAULTY, comm);
}

static int scatter_less(MPI_Comm comm, int wrong)
{
    return MPI_Scatter(send, COUNT, MPI_INT, recv, COUNT + wrong, MPI_INT,
                       FAULTY, comm);
}

static int ialltoall_less(MPI_Comm comm, int wrong)
{
    MPI_Request request;
    int rc = MPI_Ialltoall(send, COUNT - wrong, MPI_INT, recv, COUNT, MPI_INT,
                           comm, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int igather_less(MPI_Comm comm, int wrong)
{
    MPI_Request request;
    int rc = MPI_Igather(send, COUNT - wrong, MPI_INT, recv, COUNT, MPI_INT,
                         FAULTY, comm, &request);
    return rc ? rc : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

enum { TO_ALL = -1 };

static const struct own_block {
    const char *name;
    make *make;
    int receiver; /* or TO_ALL */
    int apart;    /* each receiver gets other elements: COUNT, else 0 */
    int may_fail; /* the wrong call: it sends more than others expect */
} all[] = {
    {"alltoall_less", alltoall_less, TO_ALL, COUNT, 0},
    {"alltoall_more", alltoall_more, TO_ALL, COUNT, 1},
    {"allgather_less", allgather_less, TO_ALL, 0, 0},
    {"gather_less", gather_less, FAULTY, 0, 0},
    {"scatter_less", scatter_less, TO_ALL, COUNT, 0},
    {"ialltoall_less", ialltoall_less, TO_ALL, COUNT, 0},
    {"igather_less", igather_less, FAULTY, 0, 0},
};

static int value(int of, int call, int i)
{
    return of * 10000 + call * 100 + i;
}

static int is_right(const struct own_block *o, int call)
{
    const int one = o->make == scatter_less;
    if (o->receiver != TO_ALL && o->receiver != rank)
        return 1;
    for (int r = 0; r < (one ? 1 : RANKS); r++)
        for (int i = 0; i < COUNT; i++)
            if (recv[r * COUNT + i] !=
                value(one ? FAULTY : r, call, rank * o->apart + i))
                return 0;
    return 1;
}

static void try_all_calls(const struct own_block *o)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm); /* always, eager: the team is made */
    for (int call = 0; call < CALLS; call++) {
        for (int i = 0; i < RANKS * COUNT; i++)
            send[i] = value(rank, call, i);
        memset(recv, -1, sizeof recv);
        int rc = o->make(comm, call == WRONG && rank == FAULTY);
        check(o->name, call, !rc || (call == WRONG && o->may_fail), "error");
        check(o->name, call, call == WRONG || is_right(o, call), "wrong data");
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    alarm(SECONDS);
    for (int arg = 1; arg < argc; arg++)
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
            if (!strcmp(argv[arg], all[i].name))
                try_all_calls(&all[i]);
    if (rank == 0)
        puts("0 failures");
    MPI_Finalize();
    return 0;
}
