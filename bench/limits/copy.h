/* SPDX-License-Identifier: BSD-3-Clause */
/* The rate at which threads copy memory. */
#ifndef BENCH_COPY_H
#define BENCH_COPY_H

#include <stddef.h>
#include <stdint.h>

typedef enum copy_kernel {
    COPY_PLAIN,  /**< memcpy of the C library */
    COPY_STREAM, /**< non-temporal stores, which go past the caches (SSE2) */
} copy_kernel_t;

/** Kernels that this processor has; they are numbered from 0. */
#ifdef __SSE2__
#define COPY_KERNELS 2
#else
#define COPY_KERNELS 1
#endif

const char *copy_kernel_name(copy_kernel_t kernel);

/** Work of one thread. */
typedef struct copy_part {
    const uint8_t *from; /**< aligned to 64 bytes, as is to */
    uint8_t *to;
    size_t bytes;    /**< of one copy */
    size_t span;     /**< memory that the copies walk through, whole copies
                          only; = bytes: the same buffers every time */
    size_t at;       /**< where the next copy begins; later runs go on there */
    uint64_t copies; /**< in one run, at least 1 */
    int cpu;         /**< core, negative: not pinned */
} copy_part_t;

/**
 * Runs all parts at once, a thread each, and adds up their rates: bytes copied
 * from the first start to the last end. Reused buffers are warmed before.
 * @return MB/s, or NaN when there are too few threads or memory.
 */
double copy_run(copy_part_t *parts, unsigned count, copy_kernel_t kernel);

#endif
