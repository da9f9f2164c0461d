/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that a process shares with the children that it forks later. */
#ifndef BENCH_LAUNCH_SHARED_H
#define BENCH_LAUNCH_SHARED_H

#include <stddef.h>
#include <sys/mman.h>

/** Zeros; pages take no memory until they are written. munmap() frees it. NULL:
 *  out of memory. */
static inline void *shared_alloc(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

#endif
