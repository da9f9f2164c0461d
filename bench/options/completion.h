/* SPDX-License-Identifier: BSD-3-Clause */
/* `railbench completion`: a script by which bash completes command lines. */
#ifndef BENCH_COMPLETION_H
#define BENCH_COMPLETION_H

#include "options.h"

/** Once, after all tests. @p names: of the tests, between blanks. */
void completion_begin(const char *names);
/** The options of one test, by its @p name. */
void completion_test(const char *name, const option_table_t *table);
void completion_end(void);

#endif
