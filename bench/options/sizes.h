/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sizes as given on the command line. */
#ifndef BENCH_SIZES_H
#define BENCH_SIZES_H

#include <stdint.h>

#define SIZES_MAX 256
/** Longest message that a benchmark sends, in bytes. */
#define SIZES_LIMIT (UINT64_C(1) << 30)

/**
 * Parses one number of bytes: decimal digits and perhaps K, M or G (powers of
 * 1024). @return 0, or -1 when malformed or above SIZES_LIMIT.
 */
int size_parse(const char *text, uint64_t *bytes);

/**
 * Parses "LO:HI" (LO, 2 LO, 4 LO … up to HI; LO 0: 0, 1, 2, 4 …) or "a,b,…".
 * @param sizes room for SIZES_MAX. @return 0, or -1 when malformed.
 */
int sizes_parse(const char *text, uint64_t *sizes, unsigned *count);

#endif
