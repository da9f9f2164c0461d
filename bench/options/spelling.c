/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "spelling.h"

#define LONGEST 32 /* names are shorter */

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters that one has added, left out or changed, or two neighbours swapped
 * (optimal string alignment). */
static unsigned distance(const char *a, size_t na, const char *b, size_t nb)
{
    unsigned d[3][LONGEST + 1];
    for (size_t j = 0; j <= nb; j++)
        d[0][j] = (unsigned)j;
    for (size_t i = 1; i <= na; i++) {
        unsigned *now = d[i % 3], *last = d[(i + 2) % 3],
                 *before = d[(i + 1) % 3];
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= nb; j++) {
            now[j] = least(least(last[j], now[j - 1]) + 1,
                           last[j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], before[j - 2] + 1);
        }
    }
    return d[na % 3][nb];
}

spelling_t spelling_of(const char *typed)
{
    return (spelling_t){.typed = typed, .length = strcspn(typed, "=")};
}

void spelling_try(spelling_t *s, const char *name)
{
    size_t length = strlen(name);
    if (s->length > LONGEST || length > LONGEST)
        return;
    unsigned d = distance(s->typed, s->length, name, length);
    if (s->length > 3 && !strncmp(s->typed, name, s->length))
        d = 1; /* its beginning */
    if (d > 1 + length / 4 || (s->best && d >= s->distance))
        return;
    s->best = name;
    s->distance = d;
}

void spelling_ask(const spelling_t *s, FILE *file)
{
    if (s->best)
        fprintf(file, ". Did you mean %s?", s->best);
    fputc('\n', file);
}
