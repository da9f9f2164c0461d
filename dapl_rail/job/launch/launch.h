/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One rank of a launched job, from the start of its process to its end. In
 * reading order:
 *
 *     run.c        drail_job_run: which of the ways below starts the ranks
 *     fork.h       forks them; ../simulate/ runs them in virtual time
 *     discover.h   this process's rank, from its environment or its launcher
 *     kvs.h        requests to a launcher: pmix.c, pmi2.c (pmi2_wire.h)
 *     launch.c     connects the ranks (../rendezvous/) and runs jobs of them
 *     join.c       drail_job_join: the caller has connected the ranks
 */
#ifndef DRAIL_JOB_LAUNCH_H
#define DRAIL_JOB_LAUNCH_H

#include "dapl_rail/job/job.h"
#include "dapl_rail/job/supervise/supervisor.h"

struct kvs;

struct drail_launch {
    unsigned rank, size; /* size 0: not launched */
    struct kvs *kvs;
    int fd; /* to the all-gather server in rank 0; -1: none */
    struct supervisor supervisor;
    bool connected; /* the supervisor is open */
    struct nodes hosts;
    int broken; /* code of the last job, if it failed */
};

/* Runs a job: rank_main in this process, which is one of its ranks. */
int launch_run(drail_launch_t *launch, const drail_job_config_t *cfg,
               drail_rank_main_t rank_main, void *arg);

#endif
