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

/* Copies the first line apart. Returns the bytes up to the next line. */
static inline size_t copy_first_line(void *to, const void *from)
{
    memcpy(to, from, LINE);
    return LINE - (uintptr_t)to % LINE;
}

static inline void copy_lines(void *to, const void *from, size_t n, bool near)
{
    bool apart = n > APART_LEAST, split = apart && (uintptr_t)to % LINE;
    size_t first = 0;
    if (near && !split && copies_near(n)) {
        near_copy(to, from, n);
        return;
    }
    if (split || (apart && !copies_wide(n)))
        first = copy_first_line(to, from);
    plain_copy((char *)to + first, (const char *)from + first, n - first);
}

/* The last word, whole. */
static inline void store_last(void *to, const void *from, size_t word)
{
    union {
        uint64_t of8;
        uint32_t of4;
        uint16_t of2;
        uint8_t of1;
    } value;
    if (word == 8) {
        memcpy(&value.of8, from, 8);
        __atomic_store_n((uint64_t *)to, value.of8, __ATOMIC_RELEASE);
    } else if (word == 4) {
        memcpy(&value.of4, from, 4);
        __atomic_store_n((uint32_t *)to, value.of4, __ATOMIC_RELEASE);
    } else if (word == 2) {
        memcpy(&value.of2, from, 2);
        __atomic_store_n((uint16_t *)to, value.of2, __ATOMIC_RELEASE);
    } else {
        memcpy(&value.of1, from, 1);
        __atomic_store_n((uint8_t *)to, value.of1, __ATOMIC_RELEASE);
    }
}

void shm_copy_in_order_any(void *to, const void *from, size_t n, bool near)
{
    size_t word = core_last_word((uintptr_t)to, n), rest = n - word;
    copy_lines(to, from, rest, near);
    store_last((char *)to + rest, (const char *)from + rest, word);
}

void shm_copy_ordered(void *to, const void *from, size_t n,
                      const struct shm_manner *manner)
{
    if (!n)
        return;
    if (!manner->stream && !manner->cold && !manner->backward) {
        shm_copy_in_order(to, from, n, false);
        return;
    }
    size_t word = core_last_word((uintptr_t)to, n), rest = n - word;
    size_t first = rest > APART_LEAST ? copy_first_line(to, from) : 0;
    shm_copy((char *)to + first, (const char *)from + first, rest - first,
             manner);
    store_last((char *)to + rest, (const char *)from + rest, word);
}
