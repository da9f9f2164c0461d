/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Wait, MPI_Test, MPI_Start and the other functions for requests. The MPI
 * below takes a request of libdcoll for inactive: it passes over it, and
 * returns the empty status that MPI prescribes for a complete collective.
 * Nothing waits in the MPI below while a request of libdcoll could complete the
 * wait.
 */
#include <sched.h>

#include "mpi/requests/requests.h"

/* Is a request of libdcoll among them that is active? */
static bool any_active(int count, const MPI_Request *requests)
{
    for (int i = 0; requests_exist() && i < count; i++) {
        struct request *r = request_of(requests[i]);
        if (r && request_is_active(r))
            return true;
    }
    return false;
}

/* The request of libdcoll at i, if it is active and complete; or NULL. */
static struct request *done_at(const MPI_Request *requests, int i)
{
    struct request *r = request_of(requests[i]);
    return r && request_is_active(r) && request_is_done(r) ? r : NULL;
}

/* The first one of libdcoll that is not complete; NULL: all are. */
static struct request *first_pending(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        struct request *r = request_of(requests[i]);
        if (r && !request_is_done(r))
            return r;
    }
    return NULL;
}

static struct request *first_active(int count, const MPI_Request *requests)
{
    for (int i = 0; i < count; i++) {
        struct request *r = request_of(requests[i]);
        if (r && request_is_active(r))
            return r;
    }
    return NULL;
}

/* It is done. */
static int finish(struct request *r, MPI_Request *request, MPI_Status *status)
{
    int flag, rc = pmpi.Test(request, &flag, status);
    int error = request_finish(r, request);
    return error ? error : rc;
}

/* All are done. @rc: of the MPI below, for its requests. */
static int finish_all(int count, MPI_Request *requests, MPI_Status *statuses,
                      int rc)
{
    for (int i = 0; i < count; i++) {
        struct request *r = request_of(requests[i]);
        if (!r || !request_is_active(r))
            continue;
        int error = request_finish(r, &requests[i]);
        if (!error)
            continue;
        if (statuses != MPI_STATUSES_IGNORE && rc != MPI_ERR_IN_STATUS)
            for (int j = 0; j < count; j++)
                statuses[j].MPI_ERROR = MPI_SUCCESS;
        if (statuses != MPI_STATUSES_IGNORE)
            statuses[i].MPI_ERROR = error;
        rc = MPI_ERR_IN_STATUS;
    }
    return rc;
}

static MPI_Status *status_at(MPI_Status *statuses, int i)
{
    return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

/* Finishes those of libdcoll that are done: how many, where, and their error.
 */
static int finish_some(int count, MPI_Request *requests, int *indices,
                       MPI_Status *statuses, int *rc)
{
    int taken = 0;
    for (int i = 0; i < count; i++) {
        struct request *r = done_at(requests, i);
        if (!r)
            continue;
        MPI_Status *status = status_at(statuses, taken);
        int error = finish(r, &requests[i], status);
        if (statuses != MPI_STATUSES_IGNORE)
            status->MPI_ERROR = error;
        if (error)
            *rc = MPI_ERR_IN_STATUS;
        indices[taken++] = i;
    }
    return taken;
}

/* Those of both sides that are complete now. *outcount is not MPI_UNDEFINED. */
static int test_some(int count, MPI_Request *requests, int *outcount,
                     int *indices, MPI_Status *statuses)
{
    int dcoll_rc = MPI_SUCCESS, n_below = 0;
    int n_dcoll = finish_some(count, requests, indices, statuses, &dcoll_rc);
    /* those just finished are inactive now, and passed over */
    int rc = pmpi.Testsome(
        count, requests, &n_below, indices + n_dcoll,
        statuses == MPI_STATUSES_IGNORE ? statuses : statuses + n_dcoll);
    if (n_below == MPI_UNDEFINED)
        n_below = 0;
    for (int i = n_dcoll; statuses != MPI_STATUSES_IGNORE && dcoll_rc && !rc &&
                          i < n_dcoll + n_below;
         i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    *outcount = n_dcoll + n_below;
    return rc ? rc : dcoll_rc;
}

/* *index: one that is complete, or MPI_UNDEFINED. */
static int test_any(int count, MPI_Request *requests, int *index,
                    MPI_Status *status)
{
    int flag;
    for (int i = 0; i < count; i++) {
        struct request *r = done_at(requests, i);
        if (r) {
            *index = i;
            return finish(r, &requests[i], status);
        }
    }
    int rc = pmpi.Testany(count, requests, index, &flag, status);
    if (!rc && !flag)
        *index = MPI_UNDEFINED;
    return rc;
}

#pragma GCC visibility push(default)

int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    pmpi_ready();
    struct request *r = request ? request_of(*request) : NULL;
    if (!r || !request_is_active(r))
        return pmpi.Wait(request, status);
    request_wait(r);
    return finish(r, request, status);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    pmpi_ready();
    struct request *r = request ? request_of(*request) : NULL;
    if (!r || !request_is_active(r))
        return pmpi.Test(request, flag, status);
    *flag = request_is_done(r);
    if (*flag)
        return finish(r, request, status);
    unsigned looks = 0;
    request_pause(r, &looks);
    return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    pmpi_ready();
    struct request *r;
    unsigned looks = 0;
    bool alone = true; /* only requests of libdcoll */
    if (!any_active(count, requests))
        return pmpi.Waitall(count, requests, statuses);
    for (int i = 0; i < count; i++)
        alone = alone &&
                (requests[i] == MPI_REQUEST_NULL || request_of(requests[i]));
    while ((r = first_pending(count, requests))) {
        if (alone)
            request_wait(r);
        else
            request_pause(r, &looks);
    }
    int rc = pmpi.Waitall(count, requests, statuses);
    return finish_all(count, requests, statuses, rc);
}

int MPI_Testall(int count, MPI_Request requests[], int *flag,
                MPI_Status statuses[])
{
    pmpi_ready();
    if (!any_active(count, requests))
        return pmpi.Testall(count, requests, flag, statuses);
    struct request *r = first_pending(count, requests);
    if (r) {
        unsigned looks = 0;
        *flag = 0;
        request_pause(r, &looks);
        return MPI_SUCCESS;
    }
    int rc = pmpi.Testall(count, requests, flag, statuses);
    return *flag ? finish_all(count, requests, statuses, rc) : rc;
}

int MPI_Waitany(int count, MPI_Request requests[], int *index,
                MPI_Status *status)
{
    pmpi_ready();
    unsigned looks = 0;
    if (!any_active(count, requests))
        return pmpi.Waitany(count, requests, index, status);
    while (1) {
        int rc = test_any(count, requests, index, status);
        if (rc || *index != MPI_UNDEFINED)
            return rc;
        request_pause(first_active(count, requests), &looks);
    }
}

int MPI_Testany(int count, MPI_Request requests[], int *index, int *flag,
                MPI_Status *status)
{
    pmpi_ready();
    if (!any_active(count, requests))
        return pmpi.Testany(count, requests, index, flag, status);
    int rc = test_any(count, requests, index, status);
    *flag = *index != MPI_UNDEFINED;
    return rc;
}

int MPI_Waitsome(int count, MPI_Request requests[], int *outcount,
                 int indices[], MPI_Status statuses[])
{
    pmpi_ready();
    unsigned looks = 0;
    if (!any_active(count, requests))
        return pmpi.Waitsome(count, requests, outcount, indices, statuses);
    while (1) {
        int rc = test_some(count, requests, outcount, indices, statuses);
        if (rc || *outcount)
            return rc;
        request_pause(first_active(count, requests), &looks);
    }
}

int MPI_Testsome(int count, MPI_Request requests[], int *outcount,
                 int indices[], MPI_Status statuses[])
{
    pmpi_ready();
    if (!any_active(count, requests))
        return pmpi.Testsome(count, requests, outcount, indices, statuses);
    return test_some(count, requests, outcount, indices, statuses);
}

int MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    pmpi_ready();
    struct request *r = request_of(request);
    if (r && !request_is_done(r)) {
        unsigned looks = 0;
        *flag = 0;
        request_pause(r, &looks);
        return MPI_SUCCESS;
    }
    return pmpi.Request_get_status(request, flag, status);
}

int MPI_Request_get_status_any(int count, const MPI_Request requests[],
                               int *index, int *flag, MPI_Status *status)
{
    pmpi_ready();
    if (!any_active(count, requests))
        return pmpi.Request_get_status_any(count, requests, index, flag,
                                           status);
    for (int i = 0; i < count; i++)
        if (done_at(requests, i)) {
            *index = i;
            return pmpi.Request_get_status(requests[i], flag, status);
        }
    int rc = pmpi.Request_get_status_any(count, requests, index, flag, status);
    *flag = *flag && *index != MPI_UNDEFINED;
    return rc;
}

int MPI_Request_get_status_all(int count, const MPI_Request requests[],
                               int *flag, MPI_Status statuses[])
{
    pmpi_ready();
    struct request *r =
        any_active(count, requests) ? first_pending(count, requests) : NULL;
    if (!r)
        return pmpi.Request_get_status_all(count, requests, flag, statuses);
    unsigned looks = 0;
    *flag = 0;
    request_pause(r, &looks);
    return MPI_SUCCESS;
}

int MPI_Request_get_status_some(int count, const MPI_Request requests[],
                                int *outcount, int indices[],
                                MPI_Status statuses[])
{
    pmpi_ready();
    int flag, n_dcoll = 0, n_below = 0;
    if (!any_active(count, requests))
        return pmpi.Request_get_status_some(count, requests, outcount, indices,
                                            statuses);
    for (int i = 0; i < count; i++)
        if (done_at(requests, i)) {
            pmpi.Request_get_status(requests[i], &flag,
                                    status_at(statuses, n_dcoll));
            indices[n_dcoll++] = i;
        }
    int rc = pmpi.Request_get_status_some(
        count, requests, &n_below, indices + n_dcoll,
        statuses == MPI_STATUSES_IGNORE ? statuses : statuses + n_dcoll);
    *outcount = n_dcoll + (n_below == MPI_UNDEFINED ? 0 : n_below);
    return rc;
}

int MPI_Request_free(MPI_Request *request)
{
    pmpi_ready();
    struct request *r = request ? request_of(*request) : NULL;
    return r ? request_free(r, request) : pmpi.Request_free(request);
}

int MPI_Start(MPI_Request *request)
{
    pmpi_ready();
    struct request *r = request ? request_of(*request) : NULL;
    return r ? request_start(r) : pmpi.Start(request);
}

int MPI_Startall(int count, MPI_Request requests[])
{
    pmpi_ready();
    int rc = MPI_SUCCESS;
    if (!requests_exist())
        return pmpi.Startall(count, requests);
    for (int i = 0; !rc && i < count; i++)
        rc = MPI_Start(&requests[i]);
    return rc;
}

#pragma GCC visibility pop
