/* SPDX-License-Identifier: BSD-3-Clause */
/* How a rank that shrinks a team waits between its polls. */
#ifndef DCOLL_PATIENCE_H
#define DCOLL_PATIENCE_H

#include "coll/dcoll.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/platform/spin.h"

struct patience {
    drail_job_t *job; /* whose interruption ends the wait */
    const dcoll_config_t *cfg;
    struct deadline *deadline;
    struct spin spin;
};

/* The wait begins. All arguments must outlive it. */
void patience_begin(struct patience *p, drail_job_t *job,
                    const dcoll_config_t *cfg, struct deadline *deadline);
/* Between two polls. 0: poll again; DRAIL_EINTR; DRAIL_ETIMEOUT. */
int patience_turn(struct patience *p);

#endif
