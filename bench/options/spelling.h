/* SPDX-License-Identifier: BSD-3-Clause */
/* "Did you mean …?" */
#ifndef BENCH_SPELLING_H
#define BENCH_SPELLING_H

#include <stddef.h>
#include <stdio.h>

/** The name that is most like what was typed, so far. All zero: none. */
typedef struct spelling {
    const char *typed;
    size_t length;    /**< of what is compared: up to a '=' */
    const char *best; /**< NULL: none is like it */
    unsigned distance;
} spelling_t;

spelling_t spelling_of(const char *typed);
void spelling_try(spelling_t *spelling, const char *name);
/** Ends a line with the question, if there is a name. */
void spelling_ask(const spelling_t *spelling, FILE *file);

#endif
