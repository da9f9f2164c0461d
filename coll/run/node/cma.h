/* SPDX-License-Identifier: BSD-3-Clause */
/* Cross-memory attach: the kernel copies from the memory of another rank of the
 * node (process_vm_readv). No registration is needed. */
#ifndef DCOLL_REACH_H
#define DCOLL_REACH_H

#include "coll/run/team/team.h"

/* May this rank read the memory of all ranks of its node? It tries to read
 * their random words: the kernel may forbid it (kernel.yama.ptrace_scope,
 * seccomp), and in another pid namespace the pid may be that of another
 * process. */
bool cma_permitted(const dcoll_team_t *team);

/* Copies `bytes` at address `from` of the peer to `to`. 0, or an error of the
 * team. */
int cma_read(dcoll_team_t *team, unsigned peer, uint64_t from,
             unsigned char *to, size_t bytes);

#endif
