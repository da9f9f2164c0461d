/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI's calls of requests. One of ours is inactive for the MPI below, which
 * so passes over it, and makes the empty status that MPI demands of it when it
 * is complete. No call waits below while one of ours could be what it waits
 * for.
 */
#include <sched.h>

#include "mpi/requests/requests.h"

/* Ours in an array that are active. */
static bool any_active(int count, const MPI_Request *requests)
{
    for (int i = 0; requests_exist() && i < count; i++) {
        struct request *r = request_of(requests[i]);
        if (r && request_is_active(r))
            return true;
    }
    return false;
}

/* Ours at i, active and complete; or NULL. */
static struct request *done_at(const MPI_Request *requests, int i)
{
    struct request *r = request_of(requests[i]);
    return r && request_is_active(r) && request_is_done(r) ? r : NULL;
}

/* The first one that is not complete; NULL: all are. */
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

/* Of one that is done. */
static int take(struct request *r, MPI_Request *request, MPI_Status *status)
{
    int flag, rc = pmpi.Test(request, &flag, status);
    int error = request_take(r, request);
    return error ? error : rc;
}

/* Those of an array, all done; @rc: what the MPI below says of the others. */
static int take_all(int count, MPI_Request *requests, MPI_Status *statuses,
                    int rc)
{
    for (int i = 0; i < count; i++) {
        struct request *r = request_of(requests[i]);
        if (!r || !request_is_active(r))
            continue;
        int error = request_take(r, &requests[i]);
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

/* Takes those of ours that are done: how many, where, and their error. */
static int take_some(int count, MPI_Request *requests, int *indices,
                     MPI_Status *statuses, int *rc)
{
    int taken = 0;
    for (int i = 0; i < count; i++) {
        struct request *r = done_at(requests, i);
        if (!r)
            continue;
        MPI_Status *status = status_at(statuses, taken);
        int error = take(r, &requests[i], status);
        if (statuses != MPI_STATUSES_IGNORE)
            status->MPI_ERROR = error;
        if (error)
            *rc = MPI_ERR_IN_STATUS;
        indices[taken++] = i;
    }
    return taken;
}

/* Ours and theirs that are complete now. *outcount is not MPI_UNDEFINED. */
static int test_some(int count, MPI_Request *requests, int *outcount,
                     int *indices, MPI_Status *statuses)
{
    int ours_rc = MPI_SUCCESS, theirs = 0;
    int ours = take_some(count, requests, indices, statuses, &ours_rc);
    /* what has become of ours counts as inactive */
    int rc = pmpi.Testsome(count, requests, &theirs, indices + ours,
                           statuses == MPI_STATUSES_IGNORE ? statuses
                                                           : statuses + ours);
    if (theirs == MPI_UNDEFINED)
        theirs = 0;
    for (int i = ours;
         statuses != MPI_STATUSES_IGNORE && ours_rc && !rc && i < ours + theirs;
         i++)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    *outcount = ours + theirs;
    return rc ? rc : ours_rc;
}

/* The one that is complete, *index, or MPI_UNDEFINED. */
static int test_any(int count, MPI_Request *requests, int *index,
                    MPI_Status *status)
{
    int flag;
    for (int i = 0; i < count; i++) {
        struct request *r = done_at(requests, i);
        if (r) {
            *index = i;
            return take(r, &requests[i], status);
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
    return take(r, request, status);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    pmpi_ready();
    struct request *r = request ? request_of(*request) : NULL;
    if (!r || !request_is_active(r))
        return pmpi.Test(request, flag, status);
    *flag = request_is_done(r);
    if (*flag)
        return take(r, request, status);
    unsigned looks = 0;
    request_pause(r, &looks);
    return MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[])
{
    pmpi_ready();
    struct request *r;
    unsigned looks = 0;
    bool alone = true; /* is there none of theirs? */
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
    return take_all(count, requests, statuses, rc);
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
    return *flag ? take_all(count, requests, statuses, rc) : rc;
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
    int flag, ours = 0, theirs = 0;
    if (!any_active(count, requests))
        return pmpi.Request_get_status_some(count, requests, outcount, indices,
                                            statuses);
    for (int i = 0; i < count; i++)
        if (done_at(requests, i)) {
            pmpi.Request_get_status(requests[i], &flag,
                                    status_at(statuses, ours));
            indices[ours++] = i;
        }
    int rc = pmpi.Request_get_status_some(
        count, requests, &theirs, indices + ours,
        statuses == MPI_STATUSES_IGNORE ? statuses : statuses + ours);
    *outcount = ours + (theirs == MPI_UNDEFINED ? 0 : theirs);
    return rc;
}

int MPI_Request_free(MPI_Request *request)
{
    pmpi_ready();
    struct request *r = request ? request_of(*request) : NULL;
    return r ? request_give_up(r, request) : pmpi.Request_free(request);
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
