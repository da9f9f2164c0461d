/* SPDX-License-Identifier: BSD-3-Clause */
/* The options of a test: names, aliases, help. */
#ifndef BENCH_OPTION_ROWS_H
#define BENCH_OPTION_ROWS_H

#include "options.h"

/** @p subject: a heading of --help, of these rows and perhaps the next ones. */
typedef const option_row_t *option_rows_fn_t(const char *subject,
                                             const option_row_t *rows,
                                             size_t count, void *arg);
/** Calls @p visit for each list of rows that a test has, in the order of
 *  --help, until it returns something. */
const option_row_t *option_rows_visit(const option_table_t *table,
                                      option_rows_fn_t *visit, void *arg);
/** The name that an option had before, NULL: none. */
const char *option_alias(const char *name);
/** Is this the argument of the option, with or without a value? */
bool option_is(const char *arg, const char *name);
/** --help. */
void option_print_help(const option_table_t *table);

#endif
