/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Wait, MPI_Test, MPI_Start and the others, for Fortran. */
#include <stdlib.h>
#include <string.h>

#include "mpi/calls/fortran.h"

#ifdef OPEN_MPI
#define STATUS_IGNORE   "mpi_fortran_status_ignore_"
#define STATUSES_IGNORE "mpi_fortran_statuses_ignore_"
#else
#define STATUS_IGNORE   "MPIR_F08_MPI_STATUS_IGNORE_OBJ"
#define STATUSES_IGNORE "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"
#endif

/* The arrays of the program, and those of C. */
struct list {
    int count;
    fint *requests, *statuses;
    void *memory; /* of these: */
    MPI_Status *found;
    MPI_Request *own;
    MPI_Status *wanted; /* found, or MPI_STATUSES_IGNORE */
};

static bool are_ignored(const fint *statuses)
{
    static const void *_Atomic one, *_Atomic all;
    return fortran_is_at(statuses, STATUS_IGNORE, &one) ||
           fortran_is_at(statuses, STATUSES_IGNORE, &all);
}

/* MPI_ERR_NO_MEM: the handler has been told, and the list is empty. */
static int list_open(struct list *l, int count, fint *requests, fint *statuses)
{
    size_t n = count > 0 ? (size_t)count : 1;
    *l = (struct list){.requests = requests, .statuses = statuses};
    l->memory = calloc(n, sizeof *l->found + sizeof *l->own);
    if (!l->memory) {
        pmpi.Comm_call_errhandler(MPI_COMM_SELF, MPI_ERR_NO_MEM);
        return MPI_ERR_NO_MEM;
    }
    l->count = count;
    l->found = l->memory;
    l->own = (MPI_Request *)(l->found + n);
    l->wanted = are_ignored(statuses) ? MPI_STATUSES_IGNORE : l->found;
    for (int i = 0; i < count; i++)
        l->own[i] = FROM_FORTRAN(Request, requests[i]);
    return MPI_SUCCESS;
}

/* Stores requests that have changed (others may be constants), the first
 * @statuses statuses, and the error. */
static void list_close(struct list *l, int rc, int statuses, fint *error)
{
    for (int i = 0; i < l->count; i++)
        if (l->own[i] != FROM_FORTRAN(Request, l->requests[i]))
            l->requests[i] = TO_FORTRAN(Request, l->own[i]);
    bool told = (!rc || rc == MPI_ERR_IN_STATUS) && l->wanted == l->found;
    if (told && statuses > 0)
        memcpy(l->statuses, l->found, (size_t)statuses * sizeof *l->found);
    free(l->memory);
    fortran_tell(error, rc);
}

/* Fortran counts from 1. */
static void count_up(fint *indices, int n)
{
    for (int i = 0; i < n; i++)
        if (indices[i] != MPI_UNDEFINED)
            indices[i]++;
}

#pragma GCC visibility push(default)

FORTRAN(wait, MPI_WAIT, fint *request, fint *status, fint *error)
{
    struct list l;
    int rc = list_open(&l, 1, request, status);
    if (!rc)
        rc = MPI_Wait(l.own, l.wanted);
    list_close(&l, rc, 1, error);
}

FORTRAN(waitall, MPI_WAITALL, fint *count, fint *requests, fint *statuses,
        fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, statuses);
    if (!rc)
        rc = MPI_Waitall(*count, l.own, l.wanted);
    list_close(&l, rc, *count, error);
}

FORTRAN(waitany, MPI_WAITANY, fint *count, fint *requests, fint *index,
        fint *status, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, status);
    if (!rc)
        rc = MPI_Waitany(*count, l.own, index, l.wanted);
    if (!rc)
        count_up(index, 1);
    list_close(&l, rc, 1, error);
}

FORTRAN(waitsome, MPI_WAITSOME, fint *count, fint *requests, fint *outcount,
        fint *indices, fint *statuses, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, statuses);
    *outcount = 0;
    if (!rc)
        rc = MPI_Waitsome(*count, l.own, outcount, indices, l.wanted);
    count_up(indices, *outcount);
    list_close(&l, rc, *outcount, error);
}

FORTRAN_TEST(test, MPI_TEST, fint *request, fint *flag, fint *status,
             fint *error)
{
    struct list l;
    int rc = list_open(&l, 1, request, status);
    if (!rc)
        rc = MPI_Test(l.own, flag, l.wanted);
    list_close(&l, rc, *flag ? 1 : 0, error);
}

FORTRAN_TEST(testall, MPI_TESTALL, fint *count, fint *requests, fint *flag,
             fint *statuses, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, statuses);
    if (!rc)
        rc = MPI_Testall(*count, l.own, flag, l.wanted);
    list_close(&l, rc, *flag ? *count : 0, error);
}

FORTRAN_TEST(testany, MPI_TESTANY, fint *count, fint *requests, fint *index,
             fint *flag, fint *status, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, status);
    if (!rc)
        rc = MPI_Testany(*count, l.own, index, flag, l.wanted);
    if (!rc)
        count_up(index, 1);
    list_close(&l, rc, *flag ? 1 : 0, error);
}

FORTRAN_TEST(testsome, MPI_TESTSOME, fint *count, fint *requests,
             fint *outcount, fint *indices, fint *statuses, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, statuses);
    *outcount = 0;
    if (!rc)
        rc = MPI_Testsome(*count, l.own, outcount, indices, l.wanted);
    count_up(indices, *outcount);
    list_close(&l, rc, *outcount, error);
}

FORTRAN_TEST(request_get_status, MPI_REQUEST_GET_STATUS, fint *request,
             fint *flag, fint *status, fint *error)
{
    struct list l;
    int rc = list_open(&l, 1, request, status);
    if (!rc)
        rc = MPI_Request_get_status(l.own[0], flag, l.wanted);
    list_close(&l, rc, *flag ? 1 : 0, error);
}

FORTRAN_TEST(request_get_status_all, MPI_REQUEST_GET_STATUS_ALL, fint *count,
             fint *requests, fint *flag, fint *statuses, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, statuses);
    if (!rc)
        rc = MPI_Request_get_status_all(*count, l.own, flag, l.wanted);
    list_close(&l, rc, *flag ? *count : 0, error);
}

FORTRAN_TEST(request_get_status_any, MPI_REQUEST_GET_STATUS_ANY, fint *count,
             fint *requests, fint *index, fint *flag, fint *status, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, status);
    if (!rc)
        rc = MPI_Request_get_status_any(*count, l.own, index, flag, l.wanted);
    if (!rc)
        count_up(index, 1);
    list_close(&l, rc, *flag ? 1 : 0, error);
}

FORTRAN_TEST(request_get_status_some, MPI_REQUEST_GET_STATUS_SOME, fint *count,
             fint *requests, fint *outcount, fint *indices, fint *statuses,
             fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, statuses);
    *outcount = 0;
    if (!rc)
        rc = MPI_Request_get_status_some(*count, l.own, outcount, indices,
                                         l.wanted);
    count_up(indices, *outcount);
    list_close(&l, rc, *outcount, error);
}

FORTRAN(request_free, MPI_REQUEST_FREE, fint *request, fint *error)
{
    struct list l;
    int rc = list_open(&l, 1, request, NULL);
    if (!rc)
        rc = MPI_Request_free(l.own);
    list_close(&l, rc, 0, error);
}

FORTRAN(start, MPI_START, fint *request, fint *error)
{
    struct list l;
    int rc = list_open(&l, 1, request, NULL);
    if (!rc)
        rc = MPI_Start(l.own);
    list_close(&l, rc, 0, error);
}

FORTRAN(startall, MPI_STARTALL, fint *count, fint *requests, fint *error)
{
    struct list l;
    int rc = list_open(&l, *count, requests, NULL);
    if (!rc)
        rc = MPI_Startall(*count, l.own);
    list_close(&l, rc, 0, error);
}

#pragma GCC visibility pop
