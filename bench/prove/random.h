/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of a run that can be repeated: a linear congruential generator
 * (D. Knuth's MMIX). */
#ifndef BENCH_PROVE_RANDOM_H
#define BENCH_PROVE_RANDOM_H

#include <stdint.h>

/** The next number from 0 to @p limit - 1. @p random is the state. */
static inline unsigned prove_random(uint64_t *random, unsigned limit)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*random >> 33) % limit;
}

#endif
