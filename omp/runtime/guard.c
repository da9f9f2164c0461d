/* SPDX-License-Identifier: BSD-3-Clause */
/* Guards of C++'s local static objects (Itanium C++ ABI, 3.3.3). The first byte
 * is 1 when the object is initialised; the program looks at it before it calls
 * these. Here the last four bytes are a lock. */
#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

static uint32_t *lock_of(uint64_t *guard)
{
    return (uint32_t *)guard + 1;
}

int railomp_guard_acquire(uint64_t *guard)
{
    memory_lock(lock_of(guard));
    if (!memory_atomic(DDSM_LOAD, guard, 1, 0, 0))
        return 1;
    memory_unlock(lock_of(guard));
    return 0;
}

void railomp_guard_release(uint64_t *guard)
{
    memory_release();
    memory_atomic(DDSM_STORE, guard, 1, 1, 0);
    memory_unlock(lock_of(guard));
}

void railomp_guard_abort(uint64_t *guard)
{
    memory_unlock(lock_of(guard));
}
