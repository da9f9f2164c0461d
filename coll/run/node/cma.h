/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the memory of a rank of the same node where it is: the kernel copies
 * it at once, and nobody registers anything. */
#ifndef DCOLL_REACH_H
#define DCOLL_REACH_H

#include "coll/run/team/team.h"

/* May this rank read the memory of all others of its node? Asks the kernel,
 * which may forbid it (kernel.yama.ptrace_scope, seccomp), for their words. In
 * another pid namespace a pid is somebody else's, who has no such word. */
bool cma_permitted(const dcoll_team_t *team);

/* bytes of the peer's memory at `from`, to `to`. 0, or the team's error. */
int cma_read(dcoll_team_t *team, unsigned peer, uint64_t from,
             unsigned char *to, size_t bytes);

#endif
