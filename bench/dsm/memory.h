/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that the measurement fits the memory of this host. */
#ifndef BENCH_DSM_MEMORY_H
#define BENCH_DSM_MEMORY_H

#include "bench/test.h"

/** Counts what is surely used at once: shared memory at its homes, and the
 *  results of one rank alone. @return 0, or -1 when one line went to stderr. */
int dsm_memory_check(const bench_test_t *test, const options_t *opts);

#endif
