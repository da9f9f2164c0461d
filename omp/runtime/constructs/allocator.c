/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMP's allocators. There is one kind of memory, the shared heap: an
 * allocator of the program's differs in its alignment only. */
#include <limits.h>
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

enum { NULL_ALLOCATOR, DEFAULT_ALLOCATOR, LAST_PREDEFINED = 8 };
enum { TRAIT_ALIGNMENT = 2 };

struct trait {
    int key;
    uintptr_t value;
};

/* A handle is a predefined number, or where one of these is. */
struct allocator {
    size_t alignment;
};

static size_t alignment_of(uintptr_t handle)
{
    if (handle == NULL_ALLOCATOR)
        handle = shared_words->allocator;
    return handle <= LAST_PREDEFINED
               ? 1
               : ((const struct allocator *)handle)->alignment;
}

uintptr_t omp_init_allocator(uintptr_t space, int count,
                             const struct trait *traits)
{
    size_t alignment = 1;
    (void)space;
    for (int i = 0; i < count; i++)
        if (traits[i].key == TRAIT_ALIGNMENT && traits[i].value != UINTPTR_MAX)
            alignment = traits[i].value;
    if (!alignment || alignment & (alignment - 1))
        return NULL_ALLOCATOR;
    struct allocator *a = memory_malloc(sizeof *a);
    if (!a)
        return NULL_ALLOCATOR;
    a->alignment = alignment;
    return (uintptr_t)a;
}

uintptr_t omp_init_allocator_(const uintptr_t *space, const int32_t *count,
                              const struct trait *traits)
{
    return omp_init_allocator(*space, *count, traits);
}

uintptr_t omp_init_allocator_8_(const uintptr_t *space, const int64_t *count,
                                const struct trait *traits)
{
    return omp_init_allocator(*space, (int)*count, traits);
}

void omp_destroy_allocator(uintptr_t handle)
{
    if (handle > LAST_PREDEFINED)
        memory_free((void *)handle);
}

void omp_destroy_allocator_(const uintptr_t *handle)
{
    omp_destroy_allocator(*handle);
}

/* One for all threads. */
void omp_set_default_allocator(uintptr_t handle)
{
    shared_words->allocator = handle;
}

void omp_set_default_allocator_(const uintptr_t *handle)
{
    omp_set_default_allocator(*handle);
}

uintptr_t omp_get_default_allocator(void)
{
    return shared_words->allocator ? shared_words->allocator
                                   : DEFAULT_ALLOCATOR;
}

uintptr_t omp_get_default_allocator_(void)
{
    return omp_get_default_allocator();
}

/* ----------------------------------------------------------------- memory */

void *omp_aligned_alloc(size_t alignment, size_t bytes, uintptr_t allocator)
{
    const size_t least = alignment_of(allocator);
    return bytes ? memory_aligned_alloc(alignment < least ? least : alignment,
                                        bytes)
                 : NULL;
}

void *omp_alloc(size_t bytes, uintptr_t allocator)
{
    return omp_aligned_alloc(1, bytes, allocator);
}

void *omp_aligned_calloc(size_t alignment, size_t count, size_t bytes,
                         uintptr_t allocator)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all))
        return NULL;
    void *p = omp_aligned_alloc(alignment, all, allocator);
    return p ? memset(p, 0, all) : NULL;
}

void *omp_calloc(size_t count, size_t bytes, uintptr_t allocator)
{
    return omp_aligned_calloc(1, count, bytes, allocator);
}

void omp_free(void *p, uintptr_t allocator)
{
    (void)allocator;
    memory_free(p);
}

/* The heap need not keep an alignment that is larger than its own. The new
 * block comes first: if there is no memory for it, the old one stays. */
static void *realloc_aligned(void *p, size_t bytes, uintptr_t allocator)
{
    void *aligned = omp_alloc(bytes, allocator);
    void *longer = aligned ? memory_realloc(p, bytes) : NULL;
    if (!longer) {
        memory_free(aligned);
        return NULL;
    }
    memcpy(aligned, longer, bytes);
    memory_free(longer);
    return aligned;
}

void *omp_realloc(void *p, size_t bytes, uintptr_t allocator, uintptr_t frees)
{
    if (!bytes) {
        omp_free(p, frees);
        return NULL;
    }
    if (!p)
        return omp_alloc(bytes, allocator);
    return alignment_of(allocator) > alignof(max_align_t)
               ? realloc_aligned(p, bytes, allocator)
               : memory_realloc(p, bytes);
}

/* the clause allocate */
void *GOMP_alloc(size_t alignment, size_t bytes, uintptr_t allocator)
{
    void *p = omp_aligned_alloc(alignment, bytes ? bytes : 1, allocator);
    if (!p)
        fail(FAILED, "out of memory for the clause allocate: %zu bytes", bytes);
    return p;
}

void GOMP_free(void *p, uintptr_t allocator)
{
    omp_free(p, allocator);
}
