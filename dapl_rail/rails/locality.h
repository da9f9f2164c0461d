/* SPDX-License-Identifier: BSD-3-Clause */
/* Which cores are near a rail. */
#ifndef DRAIL_RAILS_LOCALITY_H
#define DRAIL_RAILS_LOCALITY_H

#include <sched.h>

#include "dapl_rail/dapl_rail.h"

struct locality; /* the machine's topology */
struct locality *locality_open(void);
void locality_close(struct locality *topology);
/* Fills in numa_node and cpus. */
void locality_of(struct locality *topology, drail_rail_info_t *info);
/* The n-th allowed core near the rail, or -1. */
int locality_core(struct locality *topology, const drail_rail_info_t *info,
                  unsigned n);
unsigned locality_cores(struct locality *topology);
/* Pins the calling thread, one of ours, and tells its mask before; negative:
 * leaves it alone. */
bool locality_bind(int cpu, cpu_set_t *before);
void locality_unbind(const cpu_set_t *before);

#endif
