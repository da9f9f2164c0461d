/* SPDX-License-Identifier: BSD-3-Clause */
/* drail_job_join: the caller has started the ranks and brings their all-gather.
 */
#include <stdlib.h>

#include "dapl_rail/base/error.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/rendezvous/first_allgather.h"

int drail_job_join(const drail_job_join_t *how, drail_job_t **out,
                   drail_error_t *err)
{
    if (!how || !how->allgather || !out)
        return error_set(err, DRAIL_EINVAL, "drail_job_join: NULL argument");
    int rc = job_place_check(how->rank, how->size, err);
    if (rc)
        return rc;
    drail_job_t *job = calloc(1, sizeof *job);
    if (!job)
        return error_set(err, DRAIL_ENOMEM, "out of memory");
    job->rank = how->rank;
    job->size = how->size;
    job->platform = how->platform ? how->platform : &platform_machine;
    job->allgather = how->allgather;
    job->context = how->context;
    job->joined = true;
    job_reserve_files(job->size);
    rc = nodes_make(&job->nodes, job->size, how->nodes, job->size);
    if (rc)
        error_set(err, rc, "out of memory");
    else
        rc = job_first_allgather(job, -1, err);
    if (rc)
        drail_job_leave(job);
    else
        *out = job;
    return rc;
}

void drail_job_leave(drail_job_t *job)
{
    if (!job)
        return;
    nodes_free(&job->nodes);
    nodes_free(&job->hosts);
    free(job);
}
