/* SPDX-License-Identifier: BSD-3-Clause */
/* Notes: what a reader of a result must know beside the figures. */
#ifndef BENCH_NOTES_H
#define BENCH_NOTES_H

#include "dapl_rail/dapl_rail.h"

#define NOTES_MAX (2 * DRAIL_MAX_RAILS + 8) /* two of a rail, some of all */

typedef struct notes {
    char text[NOTES_MAX][192];
    unsigned count;
} notes_t;

/** Adds a sentence; cuts it if it is too long. */
void notes_add(notes_t *notes, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/** Adds why the 99th percentile of single calls is below the median over
 *  repeats in so many @p rows, if it is in any. */
void notes_add_tails(notes_t *notes, unsigned rows);
/** Adds which rails are modelled, and which share something. @return the number
 *  of the latter notes, which come last. */
unsigned notes_add_rails(notes_t *notes, const drail_t *rail);

#endif
