/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory for what several threads touch. */
#ifndef DRAIL_BASE_ALLOC_H
#define DRAIL_BASE_ALLOC_H

#include <stdlib.h>
#include <string.h>

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

#endif
