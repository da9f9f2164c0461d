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

#endif
