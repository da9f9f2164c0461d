/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's open transports make progress while it waits for other ranks in a
 * call on the job. */
#ifndef DRAIL_JOB_TRANSPORTS_H
#define DRAIL_JOB_TRANSPORTS_H

#include "dapl_rail/job/job.h"

/* Until transports_detach(), serve() makes a step of progress on t. */
void transports_attach(drail_job_t *job, drail_t *t, void (*serve)(drail_t *t));
void transports_detach(drail_job_t *job, drail_t *t);
/* Makes a step of progress on all of them. Returns in how many ms the next step
 * is due, at most most_ms. */
int transports_serve(const drail_job_t *job, int most_ms);

#endif
