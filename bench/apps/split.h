/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rank has which bodies: those between two keys, so that all ranks have
 * equal work, estimated from samples (costzones of J. Singh et al., "Load
 * balancing and data locality in adaptive hierarchical N-body methods", 1995).
 */
#ifndef BENCH_APPS_SPLIT_H
#define BENCH_APPS_SPLIT_H

#include "bodies.h"

#define SPLIT_KEYS 63

/** What a rank tells of its sorted bodies. */
typedef struct samples {
    uint64_t cost;            /**< of all; 0: there are none */
    uint64_t key[SPLIT_KEYS]; /**< at equal distances of cost */
} samples_t;

uint64_t split_cost(const body_t *bodies, size_t n);
void split_sample(const body_t *bodies, size_t n, samples_t *samples);

/** Rank r has keys from split[r] to before split[r + 1]. @return 0 or
 *  DRAIL_ENOMEM. */
int split_keys(const samples_t *samples, unsigned ranks, uint64_t *split);

#endif
