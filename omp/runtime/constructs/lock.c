/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP's locks. */
#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

/* omp_lock_t has 4 bytes, omp_nest_lock_t 16. */
struct nest_lock {
    uint32_t word, count;
    uint64_t owner; /* a thread's address, and its rank */
};

/* The memory may have had a lock before that was not destroyed. */
void omp_init_lock(uint32_t *lock)
{
    memory_lock_begin(lock);
}

void omp_init_lock_with_hint(uint32_t *lock, int hint)
{
    (void)hint;
    omp_init_lock(lock);
}

void omp_destroy_lock(uint32_t *lock)
{
    memory_lock_end(lock);
}

void omp_set_lock(uint32_t *lock)
{
    memory_lock(lock);
}

void omp_unset_lock(uint32_t *lock)
{
    memory_unlock(lock);
}

int omp_test_lock(uint32_t *lock)
{
    return memory_try_lock(lock);
}

void omp_init_nest_lock(struct nest_lock *lock)
{
    memset(lock, 0, sizeof *lock);
    memory_lock_begin(&lock->word);
}

void omp_init_nest_lock_with_hint(struct nest_lock *lock, int hint)
{
    (void)hint;
    omp_init_nest_lock(lock);
}

void omp_destroy_nest_lock(struct nest_lock *lock)
{
    memory_lock_end(&lock->word);
}

/* A thread that holds the lock has written its name itself, so it finds it. A
 * thread that does not may find an old one, but never its own. */
static uint64_t name_of_this(void)
{
    return (uintptr_t)self() ^ (uint64_t)memory_rank() << 48;
}

static bool is_held_here(struct nest_lock *lock)
{
    return __atomic_load_n(&lock->owner, __ATOMIC_RELAXED) == name_of_this();
}

static int taken(struct nest_lock *lock)
{
    __atomic_store_n(&lock->owner, name_of_this(), __ATOMIC_RELAXED);
    return (int)++lock->count;
}

void omp_set_nest_lock(struct nest_lock *lock)
{
    if (!is_held_here(lock))
        memory_lock(&lock->word);
    taken(lock);
}

int omp_test_nest_lock(struct nest_lock *lock)
{
    if (!is_held_here(lock) && !memory_try_lock(&lock->word))
        return 0;
    return taken(lock);
}

void omp_unset_nest_lock(struct nest_lock *lock)
{
    if (--lock->count)
        return;
    __atomic_store_n(&lock->owner, 0, __ATOMIC_RELAXED);
    memory_unlock(&lock->word);
}

/* ---------------------------------------------------------------- Fortran */

/* Its kind for a lock has 4 bytes, as omp_lock_t has. That for a nestable lock
 * has 8: the address of one, which is allocated here. */
void omp_init_lock_(uint32_t *lock)
{
    omp_init_lock(lock);
}

void omp_destroy_lock_(uint32_t *lock)
{
    omp_destroy_lock(lock);
}

void omp_set_lock_(uint32_t *lock)
{
    omp_set_lock(lock);
}

void omp_unset_lock_(uint32_t *lock)
{
    omp_unset_lock(lock);
}

int32_t omp_test_lock_(uint32_t *lock)
{
    return omp_test_lock(lock);
}

void omp_init_nest_lock_(struct nest_lock **lock)
{
    *lock = memory_malloc(sizeof **lock);
    if (!*lock)
        fail(FAILED, "out of memory for a lock");
    omp_init_nest_lock(*lock);
}

void omp_destroy_nest_lock_(struct nest_lock **lock)
{
    omp_destroy_nest_lock(*lock);
    memory_free(*lock);
    *lock = NULL;
}

void omp_set_nest_lock_(struct nest_lock **lock)
{
    omp_set_nest_lock(*lock);
}

void omp_unset_nest_lock_(struct nest_lock **lock)
{
    omp_unset_nest_lock(*lock);
}

int32_t omp_test_nest_lock_(struct nest_lock **lock)
{
    return omp_test_nest_lock(*lock);
}
