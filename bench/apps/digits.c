/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "digits.h"

static uint32_t value_of(uint32_t key, digit_t digit)
{
    return key >> digit.shift & ((1u << digit.bits) - 1);
}

void digits_count(const uint32_t *keys, size_t n, digit_t digit,
                  uint32_t *counts)
{
    memset(counts, 0, sizeof *counts << digit.bits);
    for (size_t i = 0; i < n; i++)
        counts[value_of(keys[i], digit)]++;
}

void digits_order(const uint32_t *keys, size_t n, digit_t digit,
                  const uint32_t *counts, uint32_t *next, uint32_t *ordered)
{
    uint32_t sum = 0;
    for (uint32_t v = 0; v < 1u << digit.bits; v++) {
        next[v] = sum;
        sum += counts[v];
    }
    for (size_t i = 0; i < n; i++)
        ordered[next[value_of(keys[i], digit)]++] = keys[i];
}

void digits_places(const uint32_t *counts, unsigned ranks, unsigned bits,
                   uint32_t *places)
{
    uint32_t values = 1u << bits, sum = 0;
    for (uint32_t v = 0; v < values; v++)
        for (unsigned r = 0; r <= ranks; r++) {
            size_t at = (size_t)r * values + v;
            places[at] = sum;
            sum += r < ranks ? counts[at] : 0;
        }
}

slice_t digits_slice(size_t n, unsigned rank, unsigned ranks)
{
    uint32_t first = (uint32_t)(n * rank / ranks);
    return (slice_t){first, (uint32_t)(n * (rank + 1) / ranks) - first};
}

/* Of places from `begin` to before `end`, those in the slice. */
static slice_t overlap(uint32_t begin, uint32_t end, slice_t slice)
{
    uint32_t last = slice.first + slice.size;
    if (begin < slice.first)
        begin = slice.first;
    if (end > last)
        end = last;
    return (slice_t){begin, end > begin ? end - begin : 0};
}

slice_t digits_part(const uint32_t *places, unsigned rank, unsigned bits,
                    slice_t slice)
{
    uint32_t values = 1u << bits;
    const uint32_t *begin = places + (size_t)rank * values;
    const uint32_t *end = begin + values;
    slice_t part = {0};
    for (uint32_t v = 0; v < values; v++) {
        if (end[v] <= slice.first)
            part.first += end[v] - begin[v];
        else if (begin[v] < slice.first)
            part.first += slice.first - begin[v];
        part.size += overlap(begin[v], end[v], slice).size;
    }
    return part;
}

void digits_put(const uint32_t *places, unsigned from, unsigned bits,
                slice_t slice, const uint32_t *came, uint32_t *keys)
{
    uint32_t values = 1u << bits;
    const uint32_t *begin = places + (size_t)from * values;
    for (uint32_t v = 0; v < values; v++) {
        slice_t run = overlap(begin[v], begin[v + values], slice);
        if (run.size)
            memcpy(keys + (run.first - slice.first), came,
                   run.size * sizeof *keys);
        came += run.size;
    }
}
