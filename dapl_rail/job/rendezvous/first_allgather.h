/* SPDX-License-Identifier: BSD-3-Clause */
/* The first all-gather of a job, of ranks that don't know each other yet. */
#ifndef DRAIL_JOB_FIRST_ALLGATHER_H
#define DRAIL_JOB_FIRST_ALLGATHER_H

#include "dapl_rail/job/job.h"

/*
 * All ranks call it. Checks that the ranks fit together, and sets job->id and
 * job->hosts. 0; DRAIL_EINVAL in all ranks when they do not fit together; what
 * the all-gather returned; DRAIL_ENOMEM.
 */
int job_first_allgather(drail_job_t *job, int timeout_ms, drail_error_t *err);

#endif
