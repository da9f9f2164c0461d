/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/heap/heap.h"

/* Rank 0 has one half, as it runs a program's serial part. */
size_t heap_part(const ddsm_t *d, size_t spans, unsigned rank)
{
    const size_t half = d->size > 1 ? spans / 2 : spans;
    if (rank == 0)
        return 0;
    return d->size == 1 ? half
                        : half + (spans - half) * (rank - 1) / (d->size - 1);
}

unsigned heap_owner(const ddsm_t *d, size_t span)
{
    unsigned low = 0, high = d->size;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        *(heap_part(d, d->heap->spans, middle) <= span ? &low : &high) = middle;
    }
    return low;
}
