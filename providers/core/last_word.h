/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The target of an RDMA write may poll its last word: that must become visible
 * last, and whole. A processor keeps the order of copies, but may store the
 * bytes of one copy in any order. So a provider copies the last word apart.
 * MPI libraries also poll the first word, for a length and a flag, so that must
 * become visible whole. `rep movsb` on an EPYC stored it in parts if the source
 * lay 1 to 4 bytes before the target within a line.
 */
#ifndef PROVIDERS_CORE_LAST_WORD_H
#define PROVIDERS_CORE_LAST_WORD_H

#include <stddef.h>
#include <stdint.h>

/* Size of the last aligned word of [to, to + n): 8, 4, 2 or 1. n is not 0. */
static inline size_t core_last_word(uintptr_t to, size_t n)
{
    size_t word = 8;
    while (word > n || (to + n) & (word - 1)) /* no division */
        word /= 2;
    return word;
}

#endif
