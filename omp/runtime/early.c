/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/early.h"

#include <stdatomic.h>
#include <stdint.h>

#include "omp/wrapper/program.h"

static _Atomic size_t used;
static _Atomic bool is_overfull;

/* not in a program that railomp-cc has linked: then there is no early heap */
static size_t room(void)
{
    return railomp_early ? RAILOMP_EARLY_BYTES : 0;
}

void *early_malloc(size_t alignment, size_t bytes)
{
    size_t seen = atomic_load(&used), start;
    if (bytes > room()) {
        is_overfull = true;
        return NULL;
    }
    do {
        start = (seen + alignment - 1) & -alignment;
        if (start > room() || bytes > room() - start) {
            is_overfull = true;
            return NULL;
        }
    } while (!atomic_compare_exchange_weak(&used, &seen, start + bytes));
    return railomp_early + start;
}

bool early_has(const void *p)
{
    return (uintptr_t)p - (uintptr_t)railomp_early < room();
}

size_t early_bytes(const void *p)
{
    return room() - ((uintptr_t)p - (uintptr_t)railomp_early);
}

bool early_is_overfull(void)
{
    return is_overfull;
}
