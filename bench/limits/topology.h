/* SPDX-License-Identifier: BSD-3-Clause */
/* Packages, memory, caches and cores of this machine, as hwloc sees them. */
#ifndef BENCH_TOPOLOGY_H
#define BENCH_TOPOLOGY_H

#include <stdint.h>

typedef struct topology_object {
    unsigned depth; /**< 0: the machine */
    char type[32];  /**< "Package", "L2Cache", "NUMANode", … */
    unsigned index; /**< among objects of its type */
    uint64_t bytes; /**< of a cache or of memory, else 0 */
    char cpus[64];  /**< list of its hardware threads */
} topology_object_t;

typedef struct topology {
    topology_object_t *objects; /**< parents before children */
    unsigned count;
} topology_t;

/** @return 0 or -1: hwloc failed, or out of memory. */
int topology_describe(topology_t *topology);
void topology_free(topology_t *topology);

#endif
