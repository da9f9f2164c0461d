/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "sizes.h"

/* Parses a number up to the first character that can't belong to it. */
static int parse_number(const char **text, uint64_t *bytes)
{
    const char *p = *text;
    uint64_t n = 0;

    if (!isdigit((unsigned char)*p))
        return -1;
    for (; isdigit((unsigned char)*p); p++) {
        n = n * 10 + (uint64_t)(*p - '0');
        if (n > SIZES_LIMIT)
            return -1;
    }
    static const char units[] = "KMG";
    const char *unit = *p ? strchr(units, toupper((unsigned char)*p)) : NULL;
    if (unit) {
        n <<= 10 * (unit - units + 1);
        p++;
    }
    if (n > SIZES_LIMIT)
        return -1;
    *text = p;
    *bytes = n;
    return 0;
}

int size_parse(const char *text, uint64_t *bytes)
{
    return parse_number(&text, bytes) || *text ? -1 : 0;
}

static int parse_range(const char *text, uint64_t lo, uint64_t *sizes,
                       unsigned *count)
{
    uint64_t hi;
    if (size_parse(text, &hi) || lo > hi)
        return -1;
    unsigned n = 0;
    for (uint64_t s = lo; s <= hi && n < SIZES_MAX; s = s ? 2 * s : 1)
        sizes[n++] = s;
    *count = n;
    return 0;
}

int sizes_parse(const char *text, uint64_t *sizes, unsigned *count)
{
    unsigned n = 0;
    do {
        if (n == SIZES_MAX || parse_number(&text, &sizes[n]))
            return -1;
        if (n == 0 && *text == ':')
            return parse_range(text + 1, sizes[0], sizes, count);
        n++;
    } while (*text++ == ',');
    if (text[-1])
        return -1;
    *count = n;
    return 0;
}
