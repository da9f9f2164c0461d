/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine and the software that a result was measured on. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_TEXT 128

typedef struct machine {
    char simulated[MACHINE_TEXT]; /**< the platform in whose time the figures
                                       are, "": they are this machine's */
    char host[MACHINE_TEXT];
    char cpu[MACHINE_TEXT];
    bool virtual_machine;
    unsigned packages, numa_nodes, cores, hardware_threads;
    unsigned allowed_threads; /**< hardware threads that we may use */
    uint64_t l1_bytes, l2_bytes, l3_bytes; /**< size of one cache, 0: none */
    uint64_t memory_bytes;
    char governor[MACHINE_TEXT]; /**< of core 0, "unknown" */
    double load;                 /**< average over 1 minute, before */
    char kernel[MACHINE_TEXT];
    char libc[MACHINE_TEXT];
    char compiler[MACHINE_TEXT];
    char libdat2[MACHINE_TEXT]; /**< file that is loaded */
    char hwloc[MACHINE_TEXT];
    char revision[MACHINE_TEXT]; /**< git revision of the benchmark */
    char date[MACHINE_TEXT];     /**< ISO 8601, UTC */
} machine_t;

/** Fills in what can be found; what can't stays 0 or "unknown". @p simulated:
 *  NULL, or the platform. */
void machine_describe(machine_t *machine, const char *simulated);

#endif
