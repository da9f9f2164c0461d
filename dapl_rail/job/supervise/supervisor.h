/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks of a launched job have no common parent. Instead each has a thread that
 * supervises: it reads the process's signals and notices the end of the job; in
 * rank 0 it also serves the all-gathers.
 */
#ifndef DRAIL_JOB_SUPERVISE_SUPERVISOR_H
#define DRAIL_JOB_SUPERVISE_SUPERVISOR_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "dapl_rail/job/supervise/oob.h"
#include "dapl_rail/platform/deadline.h"

struct supervisor {
    pthread_t thread;
    pid_t process; /* that runs the thread: a forked child has no thread */
    bool running;
    bool serves; /* rank 0 */
    struct oob_server server;
    pthread_mutex_t send_lock; /* see struct oob_channel */
    int watched; /* other ranks: the connection to rank 0; -1: it has ended */
    struct pollfd *polls;
    int signals, quit; /* descriptors */
    int grace_ms;
    struct deadline hang_up;  /* at_ns 0: not due; NEVER: done */
    _Atomic bool stop;        /* this rank's waits end */
    _Atomic bool interrupted; /* by a signal */
};

/*
 * fds: in rank 0 the connections of all ranks, which the supervisor closes; in
 * other ranks the one to rank 0, which the caller closes. supervisor_close() in
 * either case.
 */
int supervisor_open(struct supervisor *s, unsigned rank, unsigned size,
                    const int *fds, int grace_ms);
/* Waits at most a second until replies under way have been sent. */
void supervisor_close(struct supervisor *s);

/* Between these two calls the supervisor gets SIGINT and SIGTERM, and the
 * calling thread doesn't. */
void supervisor_signals_take(sigset_t *old);
void supervisor_signals_give(struct supervisor *s, const sigset_t *old);

#endif
