/* SPDX-License-Identifier: BSD-3-Clause */
/* Contents of pages that differ in each word and from stamp to stamp. */
#ifndef BENCH_DSM_WORDS_H
#define BENCH_DSM_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Word @p index of the contents of a stamp. */
uint64_t words_at(uint64_t stamp, size_t index);
/** The bytes from @p offset on of the contents of @p memory; multiples of 8. */
void words_fill(void *memory, size_t offset, size_t bytes, uint64_t stamp);
bool words_right(const void *memory, size_t offset, size_t bytes,
                 uint64_t stamp);

#endif
