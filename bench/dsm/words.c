/* SPDX-License-Identifier: BSD-3-Clause */
#include "words.h"

#define ODD UINT64_C(0x9e3779b97f4a7c15)

uint64_t words_at(uint64_t stamp, size_t index)
{
    return (stamp * ODD) ^ (index * ODD >> 7);
}

void words_fill(void *memory, size_t offset, size_t bytes, uint64_t stamp)
{
    uint64_t *words = memory;
    for (size_t i = offset / 8; i < (offset + bytes) / 8; i++)
        words[i] = words_at(stamp, i);
}

bool words_right(const void *memory, size_t offset, size_t bytes,
                 uint64_t stamp)
{
    const uint64_t *words = memory;
    uint64_t differ = 0;
    for (size_t i = offset / 8; i < (offset + bytes) / 8; i++)
        differ |= words[i] ^ words_at(stamp, i);
    return !differ;
}
