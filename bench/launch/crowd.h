/* SPDX-License-Identifier: BSD-3-Clause */
/* Do the ranks of a host have a core for each of their threads? */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <sched.h>

#include "bench/options/options.h"
#include "bench/report/notes.h"

/** Where a rank may run. */
typedef struct place {
    unsigned host;
    cpu_set_t cores; /**< empty: not known */
} place_t;

/** The ranks of one host, and the cores that they may run on together. */
typedef struct crowd {
    unsigned ranks, cores;
    bool shared; /**< their threads are more than these cores */
} crowd_t;

/** Number of cores that this process may use. */
unsigned crowd_cores(void);
/** Threads of one rank that work at the same time. */
unsigned crowd_threads(const options_t *opts);

/** Ranks beside each other, on @p cores that all of them may use. */
crowd_t crowd_of_forked(const options_t *opts, unsigned cores);
/** Of the first host whose ranks, with so many threads each, share cores; if
 *  there is none, of rank 0's host. */
crowd_t crowd_of_places(const place_t *all, unsigned ranks, unsigned threads);

/** The same answer on all ranks: launched ones tell each other where they may
 *  run, and all have to call it. Before the thread is pinned. @return 0 or
 *  DRAIL_E… */
int crowd_find(drail_job_t *job, const options_t *opts, crowd_t *crowd);

/** Adds how many ranks share how many cores, if they do. */
void crowd_note(const crowd_t *crowd, notes_t *notes);
/** ... and warns of it on stderr. */
void crowd_warn(const crowd_t *crowd, notes_t *notes, const char *command);

#endif
