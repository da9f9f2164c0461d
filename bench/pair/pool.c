/* SPDX-License-Identifier: BSD-3-Clause */
#include <omp.h>

#include "pool.h"

void pool_pin(const cores_t *cores, unsigned base, unsigned n)
{
#pragma omp parallel num_threads((int)n)
    {
        unsigned at = base + (unsigned)omp_get_thread_num();
        cores_pin(cores->cpu[at % cores->count]);
    }
}
