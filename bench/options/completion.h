/* SPDX-License-Identifier: BSD-3-Clause */
/* `railbench completion`: a script by which bash completes command lines. */
#ifndef BENCH_COMPLETION_H
#define BENCH_COMPLETION_H

#include "options.h"

/** Prints the beginning; then completion_test for each test, then the end. */
void completion_begin(void);
/** A test by its name and alias (NULL: none). @p table NULL: its options are
 *  not known. */
void completion_test(const char *name, const char *alias,
                     const option_table_t *table);
void completion_end(void);

#endif
