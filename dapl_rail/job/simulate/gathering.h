/* SPDX-License-Identifier: BSD-3-Clause */
/* All-gathers of simulated ranks: the result exists once, for all of them. */
#ifndef DRAIL_JOB_SIMULATE_GATHERING_H
#define DRAIL_JOB_SIMULATE_GATHERING_H

#include "dapl_rail/job/job.h"
#include "providers/sim/world.h"

struct shared;

/* Where the ranks meet. */
struct gathering {
    const struct sim_api *sim;
    unsigned ranks;
    struct shared *shared; /* of this round: the first rank has allocated it */
    unsigned round, arrived;
    bool no_memory; /* the first rank could not: all ranks return an error */
};

/* The context of a rank's all-gathers. */
struct place {
    struct gathering *gathering;
    unsigned rank;
    drail_job_t *job; /* NULL: the rank is joining it */
    uint64_t notices; /* up to the last look; world.h */
};

/* A drail_allgather_t; context is a struct place. */
int gathering_allgather(void *context, const void *mine, size_t bytes,
                        void *all, int timeout_ms);
/* The same with a shared result. */
extern const struct job_share gathering_share;
/* Frees the result of a round that some ranks did not come to. */
void gathering_end(struct gathering *g);

#endif
