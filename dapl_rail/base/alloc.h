/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for what several threads touch, and for what is large and brief. */
#ifndef DRAIL_BASE_ALLOC_H
#define DRAIL_BASE_ALLOC_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dapl_rail/base/limits.h"

/* Zeroed, from the beginning of a cache line on; for free(). Programs that
 * replace malloc replace this call, too, but rarely aligned_alloc. */
static inline void *alloc_lines(size_t bytes)
{
    void *memory;
    return posix_memalign(&memory, CACHE_LINE, bytes)
               ? NULL
               : memset(memory, 0, bytes);
}

/* Zeroed, costs nothing until it is touched, and goes back to the system by
 * pages_free(). NULL: out of memory. */
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
