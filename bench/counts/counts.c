/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "counts.h"

const char *const counts_names[COUNTS_FILE] = {"spike", "transpose", "uniform",
                                               "zipf", "alltoone"};

/* A number that depends on the seed and a place only (splitmix64). */
static uint64_t drawn(uint64_t seed, uint64_t place)
{
    uint64_t x = seed * UINT64_C(0xd1342543de82ef95) +
                 (place + 1) * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static unsigned transposed(unsigned ranks, unsigned i)
{
    unsigned c = 1;
    while (c * c < ranks)
        c++;
    unsigned j = i % c * c + i / c;
    return j < ranks ? j : i;
}

uint64_t counts_of(const counts_t *c, uint64_t m, unsigned from, unsigned to)
{
    uint64_t rest = c->rest < m ? c->rest : m;
    size_t place = (size_t)from * c->ranks + to;
    switch (c->kind) {
    case COUNTS_SPIKE:
        return drawn(c->seed, from) % c->ranks == to ? m : rest;
    case COUNTS_TRANSPOSE:
        return transposed(c->ranks, from) == to ? m : rest;
    case COUNTS_UNIFORM:
        return drawn(c->seed, place) % (m + 1);
    case COUNTS_ZIPF:
        return (uint64_t)((double)m / pow(to + 1, c->exponent));
    case COUNTS_ALLTOONE:
        return to ? 0 : m;
    default:
        return m * c->file[place];
    }
}

counts_sums_t counts_sum(const counts_t *c, uint64_t m)
{
    counts_sums_t sums = {0};
    for (unsigned i = 0; i < c->ranks; i++) {
        uint64_t sent = 0, received = 0;
        for (unsigned j = 0; j < c->ranks; j++) {
            uint64_t count = counts_of(c, m, i, j);
            sent += count;
            received += counts_of(c, m, j, i);
            sums.moved += i == j ? 0 : count;
            sums.longest = count > sums.longest ? count : sums.longest;
        }
        sums.total += sent;
        sums.most = sent > sums.most ? sent : sums.most;
        sums.most = received > sums.most ? received : sums.most;
    }
    return sums;
}
