/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints to the cache. Also for the providers. */
#ifndef DRAIL_PREFETCH_H
#define DRAIL_PREFETCH_H

/* Before a write: fetches the line that this address is in. */
static inline void prefetch_for_write(const void *line)
{
#ifdef __x86_64__ /* by name: the compiler has it for chosen CPUs only */
    __asm__ volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
    __builtin_prefetch(line, 1);
#endif
}

#endif
