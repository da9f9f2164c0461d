/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds this process's rank in its job, and rank 0's address. */
#ifndef DRAIL_JOB_LAUNCH_DISCOVER_H
#define DRAIL_JOB_LAUNCH_DISCOVER_H

#include "dapl_rail/job/launch/kvs.h"
#include "dapl_rail/job/rendezvous/address.h"
#include "dapl_rail/job/rendezvous/secret.h"

struct discovery {
    unsigned rank, size; /* size 0: no launcher has started this process */
    struct secret secret;
    int listener;           /* rank 0; else -1 */
    struct addresses where; /* of rank 0 */
    struct kvs *kvs;        /* of the launcher; NULL: a rendezvous, or none */
};

/* Asks the configuration, the environment and the launcher. After a failure
 * there is nothing to release. */
int discover(struct discovery *d, const drail_job_config_t *cfg);
void discovery_release(struct discovery *d);
/* Are as many ranks launched as the configuration asks for? */
int launched_check(unsigned size, const drail_job_config_t *cfg);

#endif
