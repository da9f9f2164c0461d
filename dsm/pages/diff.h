/* SPDX-License-Identifier: BSD-3-Clause */
/* Differences between a page and its twin. */
#ifndef DSM_PAGES_DIFF_H
#define DSM_PAGES_DIFF_H

#include <stddef.h>
#include <stdint.h>

/* A line of bytes, one bit each. */
enum { DIFF_LINE = 64 };
/* Of two lines: bit i says that the element of byte i differs. Elements are as
 * below. */
uint64_t diff_line(const char *now, const char *before, unsigned element_shift);

/* Called for each piece that differs; another result than 0 ends the
 * comparison and is its result. */
typedef int (*diff_piece_t)(void *context, size_t offset, size_t bytes);

/* Compares @bytes, a multiple of 64, in elements of 1 << @grain (up to 64)
 * bytes: one that differs in a byte is different as a whole, and one that does
 * not is in no piece. Pieces come in order and are as long as can be. Both
 * begin at multiples of 8. */
int diff_pieces(const void *now, const void *before, size_t bytes,
                unsigned element_shift, diff_piece_t piece, void *context);

#endif
