/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "pattern.h"

#define WORD sizeof(uint64_t)

/* splitmix64 (Steele, Lea, Flood 2014) */
static uint64_t noise(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

uint64_t *pattern_new(size_t bytes, uint64_t seed)
{
    size_t words = bytes / WORD + 1;
    uint64_t *pattern = malloc(words * WORD);
    for (size_t i = 0; pattern && i < words; i++)
        pattern[i] = noise(&seed);
    return pattern;
}

/* Message @p number adds this to each word of the pattern. No byte of it equals
 * that of another number near it. */
static uint64_t stamp(uint64_t number)
{
    return (number + 1) * 0x0101010101010101 + (number << 32);
}

void pattern_fill(void *to, const uint64_t *pattern, size_t bytes,
                  uint64_t number)
{
    uint64_t add = stamp(number), *word = to, words = bytes / WORD;
    for (size_t i = 0; i < words; i++)
        word[i] = pattern[i] + add;
    uint64_t last = pattern[words] + add;
    memcpy(word + words, &last, bytes % WORD);
}

bool pattern_is(const void *from, const uint64_t *pattern, size_t bytes,
                uint64_t number)
{
    const uint64_t *word = from;
    uint64_t add = stamp(number), words = bytes / WORD, wrong = 0;
    for (size_t i = 0; i < words; i++)
        wrong |= word[i] ^ (pattern[i] + add);
    uint64_t last = pattern[words] + add;
    return !wrong && !memcmp(word + words, &last, bytes % WORD);
}
