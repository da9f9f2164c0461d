/* SPDX-License-Identifier: BSD-3-Clause */
/* Do ranks that wait for each other have to share cores? */
#ifndef DCOLL_CORES_H
#define DCOLL_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Where a rank's thread may run. */
struct cores {
    uint64_t host; /* the same for ranks under one kernel, whatever their node:
                      emulated nodes share the cores of one host */
    cpu_set_t allowed;
};

/* Those of the calling thread. */
void cores_find(struct cores *mine);
/* Are those who may run on some of our cores more than the cores that they may
 * run on, or those who may run on no others than ours more than ours? Then what
 * we wait for may need ours. */
bool cores_oversubscribed(const struct cores *all, unsigned nranks,
                          unsigned rank);
/* Which other ranks may run on one of our cores? Returns how many they are;
 * there is room for all of them. */
unsigned cores_sharers(const struct cores *all, unsigned nranks, unsigned rank,
                       unsigned *beside);
/* Are there ranks on other hosts? */
bool cores_several_hosts(const struct cores *all, unsigned nranks,
                         unsigned rank);

#endif
