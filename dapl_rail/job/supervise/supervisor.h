/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread in each rank of a launched job that does for it what the parent does
 * for forked ranks: in rank 0 it serves the all-gather; everywhere it reads the
 * process's signals and notices that the job has ended.
 */
#ifndef DRAIL_JOB_HUB_H
#define DRAIL_JOB_HUB_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "dapl_rail/job/supervise/oob.h"
#include "dapl_rail/platform/deadline.h"

struct hub {
    pthread_t thread;
    pid_t process; /* that has it: not one that is forked later */
    bool running;
    bool serves; /* rank 0 */
    struct oob_server server;
    pthread_mutex_t speaking; /* oob_channel's, of this rank */
    int watched; /* other ranks: the connection to rank 0; -1: ended */
    struct pollfd *polls;
    int signals, quit; /* descriptors */
    int grace_ms;
    struct deadline hang_up;  /* at 0: no need to; NEVER: has done so */
    _Atomic bool stop;        /* this rank's waits end */
    _Atomic bool interrupted; /* by a signal */
};

/*
 * fds: rank 0: the connections of all ranks, which the hub closes; others:
 * the one to rank 0, which stays the caller's. hub_close in either case.
 */
int hub_open(struct hub *hub, unsigned rank, unsigned size, const int *fds,
             int grace_ms);
/* Replies that are under way are finished first, within a second. */
void hub_close(struct hub *hub);

/* From here to there signals are the hub's, not the caller's. */
void hub_signals_take(sigset_t *old);
void hub_signals_give(struct hub *hub, const sigset_t *old);

#endif
