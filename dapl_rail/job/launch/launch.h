/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank of a launched job, from the start of its process to its end. */
#ifndef DRAIL_JOB_LAUNCH_H
#define DRAIL_JOB_LAUNCH_H

#include "dapl_rail/job/rendezvous/address.h"
#include "dapl_rail/job/supervise/supervisor.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/job/rendezvous/secret.h"

struct board;

/* What a rank must know to meet the others. */
struct meeting {
    unsigned rank, size;
    struct secret secret;
    int listener;           /* rank 0 */
    struct addresses where; /* other ranks: rank 0 */
    struct board *board;    /* the launcher's, or NULL */
};

struct drail_launch {
    unsigned rank, size; /* size 0: not launched */
    struct board *board;
    int fd; /* to the server; -1: none */
    struct hub hub;
    bool met; /* the hub is open */
    struct nodes hosts;
    int broken; /* its last job failed */
};

/* Finds out how the process was started: size 0 if it was by no launcher. On
 * failure there is nothing to give back. */
int meeting_find(struct meeting *m, const drail_job_config_t *cfg);
/* Gives back what it has found. */
void meeting_leave(struct meeting *m);

/* Runs rank_main in this process, of a launched job. */
int launch_run(drail_launch_t *launch, const drail_job_config_t *cfg,
               drail_rank_main_t rank_main, void *arg);

#endif
