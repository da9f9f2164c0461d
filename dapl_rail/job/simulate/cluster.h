/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulated cluster: its platform file, and the table of hooks that puts it
 * in the place of this machine. */
#ifndef DRAIL_JOB_SIMULATE_CLUSTER_H
#define DRAIL_JOB_SIMULATE_CLUSTER_H

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/job/nodes.h"
#include "dapl_rail/platform/platform.h"
#include "providers/sim/world.h"

#define SIMULATED_RAILS 8u /* at most */

struct cluster {
    struct drail_platform platform; /* first: hooks get its address */
    const struct sim_api *sim;
    struct sim_platform described;
    drail_cluster_t known; /* the same for callers */
    struct nodes nodes;
};

/* Loads the simulator and the platform of cfg->simulate, and places the ranks.
 * cluster_free() in either case. */
int cluster_make(struct cluster *c, const drail_job_config_t *cfg);
void cluster_free(struct cluster *c);

/* The platform of simulated ranks; its pointer is to a struct cluster. */
extern const struct drail_platform simulate_hooks;
/* hooks.c: drail_platform.hollow, where the job's memory has no contents. */
int simulate_hollow(const struct drail_platform *p, void *address, size_t bytes,
                    bool on);

#endif
