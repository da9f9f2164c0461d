/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Contents of the messages of a stream. Every byte tells which message it
 * belongs to, so that a part that is missing, late or of another message is
 * found.
 */
#ifndef BENCH_DEGRADE_PATTERN_H
#define BENCH_DEGRADE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** What all messages of a stream are made of: the same on both ranks.
 *  @return NULL without memory; to be freed. */
uint64_t *pattern_new(size_t bytes, uint64_t seed);

/** Writes message @p number. */
void pattern_fill(void *to, const uint64_t *pattern, size_t bytes,
                  uint64_t number);
/** Is this message @p number, whole? */
bool pattern_is(const void *from, const uint64_t *pattern, size_t bytes,
                uint64_t number);

#endif
