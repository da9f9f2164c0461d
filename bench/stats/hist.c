/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "hist.h"

uint64_t hist_lowest(unsigned index)
{
    if (index < 2 * HIST_HALF)
        return index;
    unsigned shift = index / HIST_HALF - 1;
    return (uint64_t)(index - shift * HIST_HALF) << shift;
}

void hist_merge(hist_t *into, const hist_t *from)
{
    if (!from->count)
        return;
    if (!into->count || from->min < into->min)
        into->min = from->min;
    if (from->max > into->max)
        into->max = from->max;
    into->count += from->count;
    for (unsigned i = 0; i < HIST_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
}

uint64_t hist_quantile(const hist_t *hist, double q)
{
    if (!hist->count)
        return 0;
    uint64_t rank = (uint64_t)ceil(q * (double)hist->count), seen = 0;
    if (rank < 1)
        return hist->min;
    if (rank >= hist->count)
        return hist->max;

    unsigned i = 0;
    while ((seen += hist->buckets[i]) < rank)
        i++;
    uint64_t lowest = hist_lowest(i);
    uint64_t value = lowest + (hist_lowest(i + 1) - lowest) / 2;
    if (value < hist->min)
        return hist->min;
    return value > hist->max ? hist->max : value;
}
