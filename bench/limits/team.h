/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that begin the same work at the same moment. */
#ifndef BENCH_TEAM_H
#define BENCH_TEAM_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct team {
    unsigned size;
    atomic_uint ready;
    atomic_bool broken; /**< a thread is missing: don't wait for it */
    void (*work)(struct team *team, unsigned index, void *arg);
    void *arg;
} team_t;

/**
 * Runs team->work in @p size new threads and waits for all of them. Thread i
 * is pinned to cpus[i] (negative: not pinned).
 * @return 0, or an errno value: no thread could be made.
 */
int team_run(team_t *team, unsigned size, const int *cpus);

/** In work: returns once all threads have come here. At most once a run. */
void team_start(team_t *team);

#endif
