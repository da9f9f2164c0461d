/* SPDX-License-Identifier: BSD-3-Clause */
/* A rank's open transports go on while it waits for other ranks of its job. */
#ifndef DRAIL_JOB_TRANSPORTS_H
#define DRAIL_JOB_TRANSPORTS_H

#include "dapl_rail/job/job.h"

/* Until transports_detach(), serve() lets it go on a step. */
void transports_attach(drail_job_t *job, drail_t *t, void (*serve)(drail_t *t));
void transports_detach(drail_job_t *job, drail_t *t);
/* A step of all of them. When is the next one due? In ms, at most so many. */
int transports_serve(const drail_job_t *job, int most_ms);

#endif
