/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks in virtual time: actors of one process, which this process forks. Their
 * world is the library of the simulated rails (providers/sim/world.h), loaded
 * when it is needed. In reading order:
 *
 *     simulate.c   the job: the ranks and their process
 *     cluster.h    the simulated cluster, from its platform file
 *     hooks.c      the platform's clock, sleep, threads and copies
 *     gathering.h  the ranks' all-gathers, whose results they share
 */
#ifndef DRAIL_JOB_SIMULATE_H
#define DRAIL_JOB_SIMULATE_H

#include "dapl_rail/dapl_rail.h"

/* Runs rank_main in virtual time for each rank, and returns as drail_job_run()
 * does. cfg has been checked; its nranks are a number. */
int simulate_ranks(const drail_job_config_t *cfg, drail_rank_main_t rank_main,
                   void *arg);

#endif
