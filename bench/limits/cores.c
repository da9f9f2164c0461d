/* SPDX-License-Identifier: BSD-3-Clause */
#include "cores.h"

void cores_allowed(cores_t *cores)
{
    cpu_set_t set;
    cores->count = 0;
    if (sched_getaffinity(0, sizeof set, &set))
        return;
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &set))
            cores->cpu[cores->count++] = cpu;
}

int cores_pin(int cpu)
{
    cpu_set_t one;
    if (cpu < 0)
        return 0;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    return sched_setaffinity(0, sizeof one, &one);
}
