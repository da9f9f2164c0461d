/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The Fortran functions that the layer takes over, called by the symbols that a
 * compiler would use, so that no Fortran compiler is needed. Of MPICH:
 * functions of mpi_f08 without buffers.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

#define N      4
#define MOST   64
#define FIELDS (sizeof(MPI_Status) / sizeof(MPI_Fint))
#define WEAK   __attribute__((weak))

typedef MPI_Fint fint;

#ifdef OPEN_MPI
WEAK void mpi_allgather_(void *, fint *, fint *, void *, fint *, fint *, fint *,
                         fint *);
WEAK void ompi_allgather_f(void *, fint *, fint *, void *, fint *, fint *,
                           fint *, fint *);
WEAK void mpi_bcast__(void *, fint *, fint *, fint *, fint *, fint *);
WEAK void mpi_allreduce(void *, void *, fint *, fint *, fint *, fint *, fint *);
WEAK void mpi_iallgather_(void *, fint *, fint *, void *, fint *, fint *,
                          fint *, fint *, fint *);
WEAK void mpi_allgather_init_(void *, fint *, fint *, void *, fint *, fint *,
                              fint *, fint *, fint *, fint *);
#else
#define MPI_BARRIER                  mpi_barrier_f08_
#define mpi_comm_free_               mpi_comm_free_f08_
#define mpi_finalize_                mpi_finalize_f08_
#define mpi_ibarrier_                mpi_ibarrier_f08_
#define mpi_wait_                    mpi_wait_f08_
#define mpi_waitall__                mpi_waitall_f08_
#define ompi_waitany_f               mpi_waitany_f08_
#define MPI_WAITSOME                 mpi_waitsome_f08_
#define mpi_test                     mpi_test_f08_
#define mpi_testall_                 mpi_testall_f08_
#define mpi_testsome_                mpi_testsome_f08_
#define mpi_request_get_status_      mpi_request_get_status_f08_
#define mpi_request_free_            mpi_request_free_f08_
#define mpi_start_                   mpi_start_f08_
#define mpi_startall_                mpi_startall_f08_
#define mpi_fortran_status_ignore_   MPIR_F08_MPI_STATUS_IGNORE_OBJ
#define mpi_fortran_statuses_ignore_ MPIR_F08_MPI_STATUSES_IGNORE_OBJ
#endif
WEAK void MPI_BARRIER(fint *, fint *);
WEAK void mpi_comm_free_(fint *, fint *);
WEAK void mpi_finalize_(fint *);
WEAK void mpi_ibarrier_(fint *, fint *, fint *);
WEAK void mpi_wait_(fint *, fint *, fint *);
WEAK void mpi_waitall__(fint *, fint *, fint *, fint *);
WEAK void ompi_waitany_f(fint *, fint *, fint *, fint *, fint *);
WEAK void MPI_WAITSOME(fint *, fint *, fint *, fint *, fint *, fint *);
WEAK void mpi_test(fint *, fint *, fint *, fint *);
WEAK void mpi_testall_(fint *, fint *, fint *, fint *, fint *);
WEAK void mpi_testany_f08_(fint *, fint *, fint *, fint *, fint *, fint *);
WEAK void mpi_testsome_(fint *, fint *, fint *, fint *, fint *, fint *);
WEAK void mpi_request_get_status_(fint *, fint *, fint *, fint *);
WEAK void mpi_request_free_(fint *, fint *);
WEAK void mpi_start_(fint *, fint *);
WEAK void mpi_startall_(fint *, fint *, fint *);

/* Fortran's variables, whose addresses count */
int mpi_fortran_in_place_;
fint mpi_fortran_status_ignore_[FIELDS];
fint mpi_fortran_statuses_ignore_[2 * FIELDS];

static int rank, size, failures;
static int sent[N], got[2][MOST * N];
static fint comm, type, n = N, error = -1;

static void check(int good, const char *what)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "rank %d: %s\n", rank, what);
}

static void check_gathered(const int *data, const char *what)
{
    int good = 1;
    for (int i = 0; i < size * N; i++)
        good &= data[i] == 10 * (i / N) + i % N;
    check(good && !error, what);
}

#ifdef OPEN_MPI

static void blocking(void)
{
    fint op = MPI_Op_c2f(MPI_SUM), root = size - 1;
    int good = 1;
    mpi_allgather_(sent, &n, &type, got[0], &n, &type, &comm, &error);
    check_gathered(got[0], "allgather");
    memset(got[0], 0, sizeof got[0]);
    memcpy(got[0] + rank * N, sent, sizeof sent);
    ompi_allgather_f(&mpi_fortran_in_place_, &n, &type, got[0], &n, &type,
                     &comm, NULL);
    check_gathered(got[0], "allgather in place");
    mpi_allreduce(sent, got[0], &n, &type, &op, &comm, &error);
    for (int i = 0; i < N; i++)
        good &= got[0][i] == 5 * size * (size - 1) + size * i;
    check(good && !error, "allreduce");
    int cast[N] = {0};
    if (rank == root)
        memcpy(cast, sent, sizeof cast);
    mpi_bcast__(cast, &n, &type, &root, &comm, &error);
    for (int i = 0; i < N; i++)
        good &= cast[i] == 10 * root + i;
    check(good && !error, "bcast");
}

static void begin_gather(int persistent, fint *request)
{
    fint info = MPI_Info_c2f(MPI_INFO_NULL);
    if (persistent)
        mpi_allgather_init_(sent, &n, &type, got[0], &n, &type, &comm, &info,
                            request, &error);
    else
        mpi_iallgather_(sent, &n, &type, got[0], &n, &type, &comm, request,
                        &error);
}

#else /* whose calls with buffers call those of C */

static void blocking(void)
{
    error = MPI_Allgather(sent, n, type, got[0], n, type, comm);
    check_gathered(got[0], "allgather");
}

static void begin_gather(int persistent, fint *request)
{
    error = persistent
                ? MPI_Allgather_init(sent, n, type, got[0], n, type, comm,
                                     MPI_INFO_NULL, request)
                : MPI_Iallgather(sent, n, type, got[0], n, type, comm, request);
}

#endif

/* ------------------------------------------------ calls that do not block ---
 */

/* An all-gather, and a message of the MPI below from the rank before. */
enum { GATHER, MESSAGE, REQUESTS };

static MPI_Request message;
static int passed[2];

static void begin(fint requests[REQUESTS], int persistent)
{
    memset(got, 0, sizeof got);
    passed[0] = rank;
    passed[1] = -1;
    PMPI_Isend(&passed[0], 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD,
               &message);
    MPI_Request from;
    PMPI_Irecv(&passed[1], 1, MPI_INT, (rank + size - 1) % size, 7,
               MPI_COMM_WORLD, &from);
    requests[MESSAGE] = MPI_Request_c2f(from);
    begin_gather(persistent, &requests[GATHER]);
    check(!error, "begin");
    if (persistent)
        mpi_start_(&requests[GATHER], &error);
}

/* Both have been completed. */
static void end(fint requests[REQUESTS], int persistent, const char *how)
{
    const fint null = MPI_Request_c2f(MPI_REQUEST_NULL);
    check_gathered(got[0], how);
    check(passed[1] == (rank + size - 1) % size, "a message");
    check(requests[MESSAGE] == null, "the message's request is left");
    check((requests[GATHER] == null) == !persistent, "the request's end");
    PMPI_Wait(&message, MPI_STATUS_IGNORE);
    if (!persistent)
        return;
    memset(got, 0, sizeof got);
    fint one = 1, flag = 0;
    mpi_startall_(&one, &requests[GATHER], &error);
    while (!flag && !error)
        mpi_request_get_status_(&requests[GATHER], &flag,
                                mpi_fortran_status_ignore_, &error);
    mpi_wait_(&requests[GATHER], mpi_fortran_status_ignore_, &error);
    check_gathered(got[0], "started again");
    mpi_request_free_(&requests[GATHER], &error);
    check(!error && requests[GATHER] == null, "request_free");
}

static void check_status(const fint *status)
{
    MPI_Status own;
    memcpy(&own, status, sizeof own);
    check(own.MPI_SOURCE == (rank + size - 1) % size && own.MPI_TAG == 7,
          "a message's status");
}

static void by_wait(fint *requests)
{
    fint status[FIELDS];
    mpi_wait_(&requests[GATHER], mpi_fortran_status_ignore_, &error);
    mpi_wait_(&requests[MESSAGE], status, &error);
    check_status(status);
}

static void by_waitall(fint *requests)
{
    fint statuses[REQUESTS][FIELDS], two = REQUESTS;
    mpi_waitall__(&two, requests, statuses[0], &error);
    check_status(statuses[MESSAGE]);
}

static void by_waitall_ignored(fint *requests)
{
    fint two = REQUESTS;
    mpi_waitall__(&two, requests, mpi_fortran_statuses_ignore_, &error);
}

/* Each of them once, counted from 1. */
static void by_waitany(fint *requests)
{
    fint two = REQUESTS, index, seen = 0, status[FIELDS];
    for (int i = 0; i < REQUESTS; i++) {
        ompi_waitany_f(&two, requests, &index, status, &error);
        seen |= 1 << index;
        if (index == MESSAGE + 1)
            check_status(status);
    }
    check(seen == 6, "waitany: an index");
    ompi_waitany_f(&two, requests, &index, status, &error);
    check(index == MPI_UNDEFINED, "waitany: an index of none");
}

static void by_testany(fint *requests)
{
    fint two = REQUESTS, index = 0, flag, seen = 0, status[FIELDS];
    while (index != MPI_UNDEFINED && !error) {
        mpi_testany_f08_(&two, requests, &index, &flag, status, &error);
        seen |= flag && index != MPI_UNDEFINED ? 1 << index : 0;
        index = flag ? index : 0;
    }
    check(seen == 6, "testany: an index");
}

static void by_some(fint *requests, void (*some)(fint *, fint *, fint *, fint *,
                                                 fint *, fint *))
{
    fint two = REQUESTS, number = 0, indices[REQUESTS], seen = 0;
    fint statuses[REQUESTS][FIELDS];
    while (number != MPI_UNDEFINED && !error) {
        some(&two, requests, &number, indices, statuses[0], &error);
        for (int i = 0; i < number; i++) {
            seen |= 1 << indices[i];
            if (indices[i] == MESSAGE + 1)
                check_status(statuses[i]);
        }
    }
    check(seen == 6, "some: an index");
}

static void by_waitsome(fint *requests)
{
    by_some(requests, MPI_WAITSOME);
}

static void by_testsome(fint *requests)
{
    by_some(requests, mpi_testsome_);
}

static void by_test(fint *requests)
{
    fint flag = 0, status[FIELDS];
    while (!flag && !error)
        mpi_test(&requests[MESSAGE], &flag, status, &error);
    check_status(status);
    for (flag = 0; !flag && !error;)
        mpi_test(&requests[GATHER], &flag, mpi_fortran_status_ignore_, &error);
}

static void by_testall(fint *requests)
{
    fint two = REQUESTS, flag = 0, statuses[REQUESTS][FIELDS];
    while (!flag && !error)
        mpi_testall_(&two, requests, &flag, statuses[0], &error);
    check_status(statuses[MESSAGE]);
}

/* Nothing has been written there. */
static void check_ignored(void)
{
    fint written = 0;
    for (size_t i = 0; i < FIELDS; i++)
        written |= mpi_fortran_status_ignore_[i];
    for (size_t i = 0; i < 2 * FIELDS; i++)
        written |= mpi_fortran_statuses_ignore_[i];
    check(!written, "a status that is ignored");
}

static const struct {
    const char *name;
    void (*complete)(fint requests[REQUESTS]);
} ways[] = {
    {"wait", by_wait},
    {"waitall", by_waitall},
    {"waitall, ignored", by_waitall_ignored},
    {"waitany", by_waitany},
    {"waitsome", by_waitsome},
    {"test", by_test},
    {"testall", by_testall},
    {"testany", by_testany},
    {"testsome", by_testsome},
};

static void not_blocking(int persistent)
{
    fint requests[REQUESTS];
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        begin(requests, persistent);
        check(!error, "start");
        ways[i].complete(requests);
        end(requests, persistent, ways[i].name);
        mpi_ibarrier_(&comm, &requests[GATHER], &error);
        mpi_wait_(&requests[GATHER], mpi_fortran_status_ignore_, &error);
        check(!error, "ibarrier");
        MPI_BARRIER(&comm, &error);
        check(!error, "barrier");
    }
    check_ignored();
}

int main(int argc, char **argv)
{
    int all;
    MPI_Comm copy;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    comm = MPI_Comm_c2f(copy);
    type = MPI_Type_c2f(MPI_INT);
    for (int i = 0; i < N; i++)
        sent[i] = 10 * rank + i;
    for (int i = 0; i < 3; i++) { /* which prepare those that don't block */
        blocking();
        not_blocking(0);
        not_blocking(1);
    }
    mpi_comm_free_(&comm, &error);
    check(!error && comm == MPI_Comm_c2f(MPI_COMM_NULL), "comm_free");
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d failures\n", all);
    mpi_finalize_(&error);
    return all || error;
}
