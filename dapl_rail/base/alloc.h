/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for data of several threads, and for large data of short life. */
#ifndef DRAIL_BASE_ALLOC_H
#define DRAIL_BASE_ALLOC_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dapl_rail/base/limits.h"

/* Zeroed, aligned to a cache line; freed by free(). Not aligned_alloc():
 * programs that replace malloc() rarely replace it. */
static inline void *alloc_lines(size_t bytes)
{
    void *memory;
    return posix_memalign(&memory, CACHE_LINE, bytes)
               ? NULL
               : memset(memory, 0, bytes);
}

/* Zeroed pages, which cost nothing until they are touched; pages_free() gives
 * them back to the system. NULL: out of memory. */
static inline void *pages_new(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static inline void pages_free(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

#endif
