/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/random.h>

#include "bench/clock.h"
#include "content.h"

#define GUARD_SEED UINT64_C(0x6775617264)

/* splitmix64 of G. Steele, D. Lea, C. Flood (OOPSLA 2014): computes word @p
 * index of a stream directly. */
uint64_t content_word(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint8_t content(uint64_t seed, size_t i)
{
    return (uint8_t)(content_word(seed, i / 8) >> (8 * (i % 8)));
}

uint64_t content_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, 0) != sizeof seed || !(seed >> 11))
        seed = clock_ns() << 11;
    return seed >> 11; /* exact as a number in JSON */
}

void content_fill(uint8_t *payload, size_t bytes, uint64_t seed)
{
    for (size_t i = 0; i < bytes; i++)
        payload[i] = content(seed, i);
}

void content_prepare(uint8_t *payload, size_t bytes, size_t guard,
                     uint64_t seed)
{
    content_fill(payload - guard, guard, seed ^ GUARD_SEED);
    content_fill(payload + bytes, guard, seed ^ GUARD_SEED);
    for (size_t i = 0; i < bytes; i++)
        payload[i] = (uint8_t)~content(seed, i);
}

/* @return index of the first difference, or @p bytes. */
static size_t compare(const uint8_t *data, size_t bytes, uint64_t seed)
{
    size_t i = 0;
    while (i < bytes && data[i] == content(seed, i))
        i++;
    return i;
}

defect_t content_check(const uint8_t *payload, size_t bytes, size_t guard,
                       uint64_t seed)
{
    uint64_t guard_seed = seed ^ GUARD_SEED;
    size_t i = compare(payload - guard, guard, guard_seed);
    if (i < guard)
        return (defect_t){(int64_t)i - (int64_t)guard, content(guard_seed, i),
                          payload[(int64_t)i - (int64_t)guard]};
    i = compare(payload, bytes, seed);
    if (i < bytes)
        return (defect_t){(int64_t)i, content(seed, i), payload[i]};
    i = compare(payload + bytes, guard, guard_seed);
    if (i < guard)
        return (defect_t){(int64_t)(bytes + i), content(guard_seed, i),
                          payload[bytes + i]};
    return (defect_t){.offset = DEFECT_NONE};
}
