/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores near a rail. An adapter that hwloc knows as an OpenFabrics device
 * has near cores; all cores are near other rails. */
#ifndef DRAIL_RAILS_LOCALITY_H
#define DRAIL_RAILS_LOCALITY_H

#include <sched.h>

#include "dapl_rail/dapl_rail.h"

/* The machine's topology. */
struct locality;
/* NULL: it can't be read; the other functions accept that. */
struct locality *locality_open(void);
void locality_close(struct locality *topology);
/* Fills in numa_node and cpus. */
void locality_of(struct locality *topology, drail_rail_info_t *info);
/* The n-th allowed core near the rail, or -1. */
int locality_core(struct locality *topology, const drail_rail_info_t *info,
                  unsigned n);
/* The number of allowed cores, at least 1. */
unsigned locality_cores(struct locality *topology);
/* Pins the calling thread and sets *before to its mask before. False: it is not
 * pinned, as if cpu is negative. */
bool locality_bind(int cpu, cpu_set_t *before);
void locality_unbind(const cpu_set_t *before);

#endif
