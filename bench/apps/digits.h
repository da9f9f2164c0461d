/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A pass of a radix sort (G. Blelloch et al., "A comparison of sorting
 * algorithms for the Connection Machine CM-2", 1991, as SPLASH-2 has it): each
 * rank counts its keys by a digit, and with the counts of all it knows where
 * each of its keys goes, and whose keys come to it.
 */
#ifndef BENCH_APPS_DIGITS_H
#define BENCH_APPS_DIGITS_H

#include <stddef.h>
#include <stdint.h>

/** The digit of a pass: `bits` bits of a key above `shift` ones. */
typedef struct digit {
    unsigned shift, bits;
} digit_t;

/** How often each value comes: 1 << bits counts. */
void digits_count(const uint32_t *keys, size_t n, digit_t digit,
                  uint32_t *counts);
/** Copies the keys into the order of their digits, else of their places;
 *  @p next: room for as many counts. */
void digits_order(const uint32_t *keys, size_t n, digit_t digit,
                  const uint32_t *counts, uint32_t *next, uint32_t *ordered);

/** From the counts of all ranks, rank by rank: where each rank's keys of each
 *  value begin among all keys, and in a further row where they end. */
void digits_places(const uint32_t *counts, unsigned ranks, unsigned bits,
                   uint32_t *places);

/** The places of `size` keys from `first` on are a rank's. */
typedef struct slice {
    uint32_t first, size;
} slice_t;

slice_t digits_slice(size_t n, unsigned rank, unsigned ranks);
/** Which of a rank's ordered keys have a place in the slice: those from
 *  `first` on. */
slice_t digits_part(const uint32_t *places, unsigned rank, unsigned bits,
                    slice_t slice);
/** Puts what has come from a rank into its places in the slice. */
void digits_put(const uint32_t *places, unsigned from, unsigned bits,
                slice_t slice, const uint32_t *came, uint32_t *keys);

#endif
