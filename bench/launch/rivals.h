/* SPDX-License-Identifier: BSD-3-Clause */
/* Other jobs of this program that measure on the same cores at the same time:
 * each then sees the other's load. */
#ifndef BENCH_RIVALS_H
#define BENCH_RIVALS_H

#include <sched.h>
#include <stdbool.h>
#include <sys/types.h>

#include "bench/options/options.h"

/** What one rank knows of its job's processes on its host. */
typedef struct rivals {
    cpu_set_t cores; /**< that the job's ranks use there */
    pid_t *own;      /**< processes of launched ranks; NULL: forked ones, which
                          are the parent's children */
    unsigned nown;
    bool blind;  /**< it can't be known, or another rank looks */
    pid_t found; /**< 0: none yet */
} rivals_t;

/** All ranks call it, before they pin their threads. @return 0 or DRAIL_E… */
int rivals_open(rivals_t *rivals, drail_job_t *job, const options_t *opts);
/** For jobs that are there now; rank 0 does. */
void rivals_look(rivals_t *rivals);
/** A line on standard error, if there was one. */
void rivals_warn(const rivals_t *rivals, const char *command);
void rivals_close(rivals_t *rivals);

#endif
