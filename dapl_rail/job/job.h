/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank knows of its job. */
#ifndef DRAIL_JOB_JOB_H
#define DRAIL_JOB_JOB_H

#include <stdatomic.h>

#include "dapl_rail/dapl_rail.h"
#include "dapl_rail/platform/platform.h"

struct drail_job {
    unsigned rank, size, ppn;
    const struct drail_platform *platform;
    int fd;                    /* to the supervisor */
    int broken;                /* out of step with the supervisor: this error */
    uint64_t id;               /* random, the same on all ranks */
    _Atomic bool *interrupted; /* in memory shared with the supervisor */
};

#endif
