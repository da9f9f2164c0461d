/* SPDX-License-Identifier: BSD-3-Clause */
/* On which cores do ranks run, and do they have to share them? */
#ifndef DCOLL_CORES_H
#define DCOLL_CORES_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* Where a rank's thread may run. */
struct cores {
    uint64_t host; /* equal for ranks under one kernel, also on different nodes:
                      emulated nodes share the cores of one host */
    cpu_set_t allowed;
};

/* Finds those of the calling thread. */
void cores_find(struct cores *mine);
/* May the ranks that this rank waits for need its cores? True if more ranks may
 * run on some of its cores than all of these may use, or if more ranks are
 * restricted to its cores than it has cores. */
bool cores_oversubscribed(const struct cores *all, unsigned nranks,
                          unsigned rank);
/* Fills sharers with the other ranks that may run on one of this rank's cores
 * (there must be space for nranks), and returns their number. */
unsigned cores_sharers(const struct cores *all, unsigned nranks, unsigned rank,
                       unsigned *sharers);
/* Are there ranks on other hosts? */
bool cores_several_hosts(const struct cores *all, unsigned nranks,
                         unsigned rank);

#endif
