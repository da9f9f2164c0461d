/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/pages/diff.h"

#include <stdbool.h>
#include <string.h>

/* Bit i: byte i of @x is not 0. The sums carry into a byte's highest bit, which
 * the product moves to the highest byte. */
static uint64_t bytes_differ(uint64_t x)
{
    const uint64_t low = UINT64_MAX / 255 * 0x7f;
    const uint64_t high = (((x & low) + low) | x) & ~low;
    return (high >> 7) * 0x0102040810204080u >> 56;
}

uint64_t diff_line(const char *now, const char *before, unsigned element_shift)
{
    uint64_t bits = 0;
    if (!memcmp(now, before, DIFF_LINE))
        return 0;
    for (unsigned w = 0; w < DIFF_LINE / 8; w++) {
        uint64_t a, b;
        memcpy(&a, now + 8 * w, 8);
        memcpy(&b, before + 8 * w, 8);
        uint64_t byte = a == b               ? 0
                        : element_shift >= 3 ? 0xff
                                             : bytes_differ(a ^ b);
        bits |= byte << (8 * w);
    }
    /* spread each bit over its element: pairs, then pairs of pairs, … */
    for (unsigned g = 0; g < element_shift; g++) {
        const unsigned by = 1u << g;
        const uint64_t low = UINT64_MAX / (((uint64_t)1 << by) + 1);
        uint64_t both = (bits | bits >> by) & low;
        bits = both | both << by;
    }
    return bits;
}

int diff_pieces(const void *now, const void *before, size_t bytes,
                unsigned element_shift, diff_piece_t piece, void *context)
{
    const char *a = now, *b = before;
    size_t start = 0; /* of the open piece */
    bool open = false;
    /* most hot pages (hot.h) have not changed since the last release */
    if (!memcmp(a, b, bytes))
        return 0;
    for (size_t at = 0; at < bytes; at += DIFF_LINE) {
        const uint64_t bits = diff_line(a + at, b + at, element_shift);
        unsigned i = 0;
        while (i < DIFF_LINE) {
            /* the next byte where differing changes */
            uint64_t other = (open ? ~bits : bits) >> i;
            if (!other)
                break;
            i += (unsigned)__builtin_ctzll(other);
            int rc = 0;
            if (open)
                rc = piece(context, start, at + i - start);
            else
                start = at + i;
            if (rc)
                return rc;
            open = !open;
        }
    }
    return open ? piece(context, start, bytes - start) : 0;
}
