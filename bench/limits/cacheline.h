/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of a cache line from one core to another: no message within one host
 * is faster.
 */
#ifndef BENCH_CACHELINE_H
#define BENCH_CACHELINE_H

#include <stdint.h>

/** Lines of one transfer. */
typedef enum transfer {
    TRANSFER_ONE = 1, /**< a flag */
    TRANSFER_TWO = 2, /**< a payload, then a flag, as a message does */
} transfer_t;

/**
 * Two threads on cores @p a and @p b send each other the lines, @p rounds
 * times there and back after a tenth of that to warm up; each reads all lines
 * before it answers. Bounded in time.
 * @return ns one way (half of a round), or NaN when it couldn't be measured.
 */
double cacheline_run(int a, int b, transfer_t transfer, uint64_t rounds);

#endif
