/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes of one host may be in different time namespaces (containers that
 * were restored, time_namespaces(7)): then their monotonic clocks differ by
 * constants. Times that such processes share are times of the host's clock.
 * Providers use it, too.
 */
#ifndef DRAIL_TIMENS_H
#define DRAIL_TIMENS_H

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>

/** CLOCK_MONOTONIC of this process minus that of its host, in ns modulo 2^64; 0
 *  if the kernel does not tell. */
static inline uint64_t timens_ahead_ns(void)
{
    FILE *file = fopen("/proc/self/timens_offsets", "re");
    int64_t seconds = 0, ns = 0;
    if (file &&
        fscanf(file, "monotonic %" SCNd64 " %" SCNd64, &seconds, &ns) < 2)
        seconds = ns = 0;
    if (file)
        fclose(file);
    return (uint64_t)seconds * 1000000000u + (uint64_t)ns;
}

#endif
