/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers of the applications. */
#include "app.h"

/* splitmix64 (S. Vigna, public domain): the same on all machines. */
uint64_t app_random(uint64_t *seed)
{
    uint64_t z = *seed += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

double app_uniform(uint64_t *seed)
{
    return (double)(app_random(seed) >> 11) * 0x1p-53;
}
