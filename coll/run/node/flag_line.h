/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_LINE_H
#define DCOLL_LINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "coll/schedule.h"

#define CACHE_LINE DCOLL_CACHE_LINE

/* A flag of a rank, in a cache line of its own. A flag with payload has one
 * line for each start of the depth; a flag without, whose value only grows, has
 * one. */
struct line {
    _Atomic uint32_t value; /* number of the latest start + 1 */
    uint32_t reserved;
    unsigned char payload[DCOLL_LINE_BYTES];
} __attribute__((aligned(CACHE_LINE)));

#endif
