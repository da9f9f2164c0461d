/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks over pages by single accesses. */
#ifndef BENCH_DSM_WALK_H
#define BENCH_DSM_WALK_H

#include <stdint.h>

/** Reads a word. */
static inline void walk_touch(const void *at)
{
    *(const volatile uint64_t *)at;
}

/** How far it is from one page to the next, modulo @p pages: each is met once,
 *  and never after the one before it, so that nothing is fetched ahead.
 *  @p pages: at least 3. */
static inline uint64_t walk_stride(uint64_t pages)
{
    for (uint64_t stride = pages * 5 / 8 | 1; stride < pages; stride++) {
        uint64_t a = pages, b = stride;
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
        if (a == 1 && stride > 1)
            return stride;
    }
    return pages - 1;
}

#endif
