/* SPDX-License-Identifier: BSD-3-Clause */
/* Critical sections, and atomic operations that are more than a word. */
#include "omp/runtime/memory.h"

#include "omp/runtime/interface.h"

void GOMP_critical_start(void)
{
    memory_lock(&shared_words->critical);
}

void GOMP_critical_end(void)
{
    memory_unlock(&shared_words->critical);
}

/* @name: 8 bytes of .bss, 0 at first */
void GOMP_critical_name_start(void **name)
{
    memory_lock((uint32_t *)name);
}

void GOMP_critical_name_end(void **name)
{
    memory_unlock((uint32_t *)name);
}

/* Atomic operations that are more than a word, several reductions at once. */
void GOMP_atomic_start(void)
{
    memory_lock(&shared_words->atomic);
}

void GOMP_atomic_end(void)
{
    memory_unlock(&shared_words->atomic);
}
