/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DRAIL_JOB_LAUNCH_FORK_H
#define DRAIL_JOB_LAUNCH_FORK_H

#include "dapl_rail/dapl_rail.h"

/* Runs rank_main in a child process for each rank, and returns as
 * drail_job_run() does. cfg has been checked; its nranks are a number. */
int fork_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
               void *arg);

#endif
