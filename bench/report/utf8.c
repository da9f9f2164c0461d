/* SPDX-License-Identifier: BSD-3-Clause */
#include "utf8.h"

/* Of the first byte: how many follow, and the range of the second byte, which
 * excludes longer forms of short characters, surrogates, and what lies beyond
 * U+10FFFF (RFC 3629, section 4). */
static const struct form {
    unsigned char first, last, more, low, high;
} forms[] = {
    {0x00, 0x7f, 0, 0x80, 0xbf}, {0xc2, 0xdf, 1, 0x80, 0xbf},
    {0xe0, 0xe0, 2, 0xa0, 0xbf}, {0xe1, 0xec, 2, 0x80, 0xbf},
    {0xed, 0xed, 2, 0x80, 0x9f}, {0xee, 0xef, 2, 0x80, 0xbf},
    {0xf0, 0xf0, 3, 0x90, 0xbf}, {0xf1, 0xf3, 3, 0x80, 0xbf},
    {0xf4, 0xf4, 3, 0x80, 0x8f},
};

unsigned utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    const struct form *f = forms, *end = f + sizeof forms / sizeof *forms;
    while (f < end && (*at < f->first || *at > f->last))
        f++;
    if (f == end)
        return 0;
    for (unsigned i = 1; i <= f->more; i++) {
        unsigned char low = i == 1 ? f->low : 0x80;
        unsigned char high = i == 1 ? f->high : 0xbf;
        if (at[i] < low || at[i] > high)
            return 0;
    }
    return f->more + 1u;
}

void utf8_clean(char *text)
{
    while (*text) {
        unsigned length = utf8_length(text);
        if (!length)
            *text = '?';
        text += length ? length : 1;
    }
}
