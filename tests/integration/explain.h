/* SPDX-License-Identifier: BSD-3-Clause */
/* A transport's explanation of its choices. */
#ifndef TESTS_EXPLAIN_H
#define TESTS_EXPLAIN_H

#include <stdio.h>
#include <string.h>

#include "ranks.h"

static inline const char *explained(struct rank *r, size_t bytes)
{
    static char text[1024];
    drail_explain(r->t, bytes, text, sizeof text);
    return text;
}

static inline bool says(struct rank *r, size_t bytes, const char *what)
{
    if (strstr(explained(r, bytes), what))
        return true;
    printf("# no '%s' in: %s\n", what, explained(r, bytes));
    return false;
}

#endif
