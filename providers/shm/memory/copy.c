/* SPDX-License-Identifier: BSD-3-Clause */
/* Making a copy. */
#include <string.h>

#include "providers/core/last_word.h"
#include "providers/shm/memory/copy.h"

const bool shm_can_stream = STREAM_EXISTS;

#define LINE 64u

/* Where a peer may poll: the line that the target ends in, unless it is whole.
 */
static size_t last_line(const void *to, size_t n)
{
    size_t in_line = ((uintptr_t)to + n) % LINE;
    return in_line < n ? in_line : n;
}

void shm_copy(void *to, const void *from, size_t n,
              const struct shm_manner *manner)
{
    size_t last = manner->backward ? last_line(to, n) : 0;
    n -= last;
    if (manner->cold)
        shm_copy_cold(to, from, n, manner);
    else if (manner->stream && n > LINE)
        stream_copy(to, from, n);
    else
        shm_copy_plain(to, from, n, manner);
    memcpy((char *)to + n, (const char *)from + n, last);
}

/* `rep movsb`, which memcpy uses above 2 KB, may store the first words in parts
 * (core/last_word.h), so the bytes up to the next line go apart. Vectors store
 * words whole, and whole lines if the target begins with one. */
#define APART_LEAST 2048u

static void copy_lines(void *to, const void *from, size_t n,
                       const struct shm_manner *manner)
{
    size_t at = (uintptr_t)to % LINE;
    bool is_short = n <= APART_LEAST, plain = !manner->stream && !manner->cold;
    size_t first = is_short ? 0 : LINE - at;
    if (plain && (is_short || (!at && copies_wide(n)))) {
        plain_copy(to, from, n); /* the shortest way for most puts */
        return;
    }
    memcpy(to, from, first);
    shm_copy((char *)to + first, (const char *)from + first, n - first, manner);
}

void shm_copy_ordered_any(void *to, const void *from, size_t n,
                          const struct shm_manner *manner)
{
    if (!n)
        return;
    size_t word = core_last_word((uintptr_t)to, n), rest = n - word;
    if (rest)
        copy_lines(to, from, rest, manner);
    void *last = (char *)to + rest;
    union {
        uint64_t of8;
        uint32_t of4;
        uint16_t of2;
        uint8_t of1;
    } value;
    memcpy(&value, (const char *)from + rest, word);
    if (word == 8)
        __atomic_store_n((uint64_t *)last, value.of8, __ATOMIC_RELEASE);
    else if (word == 4)
        __atomic_store_n((uint32_t *)last, value.of4, __ATOMIC_RELEASE);
    else if (word == 2)
        __atomic_store_n((uint16_t *)last, value.of2, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint8_t *)last, value.of1, __ATOMIC_RELEASE);
}
