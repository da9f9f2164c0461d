/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parent of forked ranks supervises them: it serves their all-gathers,
 * passes signals on, and ends the other ranks when one of them has failed. It
 * uses the clock of this machine, whatever the platform of the job shows.
 */
#ifndef DRAIL_JOB_SUPERVISE_CHILDREN_H
#define DRAIL_JOB_SUPERVISE_CHILDREN_H

#include <signal.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/supervise/oob.h"

/* The parent shows this to all ranks, in shared memory. */
struct shown {
    _Atomic bool stop_all;
    _Atomic bool ended[DRAIL_MAX_RANKS];
};

struct children {
    const drail_job_config_t *cfg;
    pid_t *pids; /* by rank; 0: has been waited for */
    unsigned count, alive;
    struct oob_server server;
    struct pollfd *polls;
    int signals; /* see signals.h */
    sigset_t old_mask;
    struct sigaction old_chld;
    struct shown *shown;
    int rc;                    /* of the job: 0 or its first failure */
    uint64_t term_ns, kill_ns; /* when to send SIGTERM, SIGKILL; 0: never */
};

/* Takes over the signals of the process. children_close() in either case. */
int children_open(struct children *c, const drail_job_config_t *cfg);
void children_close(struct children *c);
/* In a child: gives back what belongs to the parent, and lets the child have
 * the caller's signals again. */
void children_leave(struct children *c);

/* The next rank runs in this process; fd is the parent's end of its channel. */
void children_add(struct children *c, pid_t pid, int fd);
void children_kill(const struct children *c, int signal);
/* Until all children have ended; c->rc is the outcome. */
void children_supervise(struct children *c);

#endif
