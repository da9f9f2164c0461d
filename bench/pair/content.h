/* SPDX-License-Identifier: BSD-3-Clause */
/* Random contents of messages, and checks of what arrived. */
#ifndef BENCH_CONTENT_H
#define BENCH_CONTENT_H

#include <stddef.h>
#include <stdint.h>

/** The first byte that is not what it should be. */
typedef struct defect {
    int64_t offset; /**< from the start of the payload; outside of it: a byte
                         of the guard was touched. DEFECT_NONE: all is well */
    uint8_t expected, found;
} defect_t;

#define DEFECT_NONE INT64_MIN

/** A fresh seed of the kernel's random numbers, never 0. */
uint64_t content_seed(void);

/** Word @p index of the stream of @p seed. */
uint64_t content_word(uint64_t seed, uint64_t index);

/** Fills @p bytes with the stream of @p seed. */
void content_fill(uint8_t *payload, size_t bytes, uint64_t seed);

/**
 * Prepares a target: every byte of the payload differs from what the stream of
 * @p seed will write there, so that a byte that never arrives is noticed; the
 * guards of @p guard bytes on both sides get their own contents.
 */
void content_prepare(uint8_t *payload, size_t bytes, size_t guard,
                     uint64_t seed);

/** Compares payload and guards with what they should be. */
defect_t content_check(const uint8_t *payload, size_t bytes, size_t guard,
                       uint64_t seed);

#endif
