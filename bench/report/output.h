/* SPDX-License-Identifier: BSD-3-Clause */
/* A result file that appears under its name only when it is complete. */
#ifndef BENCH_OUTPUT_H
#define BENCH_OUTPUT_H

#include <stdio.h>

#include "bench/options/options.h"

typedef struct output {
    FILE *file;
    format_t format;
    const char *path; /**< NULL: standard output */
    char *temporary;  /**< NULL: path is written directly (a device, a pipe) */
} output_t;

/** What --output, --save and --histogram name. All zero is empty. */
typedef struct outputs {
    output_t list[2 + SAVES_MAX];
    unsigned count;
    const char *command;
    struct table_copy *copy; /**< of the table, NULL: none is wanted */
} outputs_t;

/** Opens all of them, before anything is measured; rank 0's process does.
 * @return 0, or -1 when one line went to stderr. */
int outputs_open(outputs_t *outputs, const options_t *opts,
                 const char *command);
/** Writes a result. It leaves errors of writing in the FILE. @return 0, or -1
 *  with errno if something else is missing. */
typedef int output_writer_t(FILE *file, format_t format, const void *result);
/** Writes @p result to each in its format and commits it. @return 0 or -1 with
 *  errno. */
int outputs_write(outputs_t *outputs, output_writer_t *write,
                  const void *result);
/** The same; an error is a line on stderr. */
int outputs_report(outputs_t *outputs, output_writer_t *write,
                   const void *result);
/** Removes what was not committed, by this process or a child of it. */
void outputs_discard(outputs_t *outputs);

#endif
