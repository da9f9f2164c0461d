/* SPDX-License-Identifier: BSD-3-Clause */
/* What malloc and its like are in the program (omp/wrapper/program.c). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "omp/runtime/memory.h"
#include "omp/wrapper/program.h"

static void *allocated(void *p)
{
    if (!p)
        errno = ENOMEM;
    return p;
}

void *railomp_malloc(size_t bytes)
{
    return allocated(memory_malloc(bytes));
}

void *railomp_calloc(size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all))
        return allocated(NULL);
    return allocated(memory_calloc(all));
}

void *railomp_realloc(void *p, size_t bytes)
{
    return allocated(memory_realloc(p, bytes));
}

void *railomp_reallocarray(void *p, size_t count, size_t bytes)
{
    size_t all;
    if (__builtin_mul_overflow(count, bytes, &all))
        return allocated(NULL);
    return railomp_realloc(p, all);
}

void *railomp_memalign(size_t alignment, size_t bytes)
{
    if (!alignment || alignment & (alignment - 1)) {
        errno = EINVAL;
        return NULL;
    }
    return allocated(memory_aligned_alloc(alignment, bytes));
}

int railomp_posix_memalign(void **p, size_t alignment, size_t bytes)
{
    if (alignment % sizeof(void *))
        return EINVAL;
    void *got = railomp_memalign(alignment, bytes);
    if (!got)
        return errno;
    *p = got;
    return 0;
}

char *railomp_strndup(const char *text, size_t most)
{
    const size_t length = strnlen(text, most);
    char *copy = railomp_malloc(length + 1);
    if (copy)
        ((char *)memcpy(copy, text, length))[length] = 0;
    return copy;
}

void railomp_free(void *p)
{
    const int saved = errno;
    memory_free(p);
    errno = saved;
}

void railomp_prepare(const void *start, size_t bytes, bool writable)
{
    memory_prepare(start, bytes, writable);
}

bool railomp_may_go(const void *start, size_t bytes)
{
    return memory_may_go(start, bytes);
}
