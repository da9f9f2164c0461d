/* SPDX-License-Identifier: BSD-3-Clause */
/* Do programs that a team knows nothing of use its cores? Hosts may be virtual
 * ones that share cores, and other jobs may run on a host. */
#ifndef DCOLL_CONTENTION_H
#define DCOLL_CONTENTION_H

#include "dapl_rail/platform/platform.h"

/* How long it takes to find out. A daemon that runs for a moment disturbs only
 * one look. */
#define CONTENTION_LOOKS   3u
#define CONTENTION_LOOK_NS 1000000u

/* Does the calling thread get much less than a whole core in most looks, while
 * it polls? The other ranks must do the same meanwhile: ranks that sleep use no
 * core. */
bool contention_found(const struct drail_platform *platform);

#endif
