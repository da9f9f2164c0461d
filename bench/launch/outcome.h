/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why a rank failed: each rank has a slot in memory that it shares with the
 * parent, so that the user reads one line with the cause instead of one from
 * each rank that stumbled over it.
 */
#ifndef BENCH_OUTCOME_H
#define BENCH_OUTCOME_H

#include "dapl_rail/dapl_rail.h"

typedef struct outcome {
    unsigned nranks;
    drail_error_t rank[];
} outcome_t;

/** Before the ranks are forked. NULL: out of memory. */
outcome_t *outcome_create(unsigned nranks);
void outcome_destroy(outcome_t *outcome);
/** A rank's own slot. */
void outcome_set(outcome_t *outcome, unsigned rank, int code,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/** The first failure that isn't a mere consequence of another rank's; else
 *  the first at all; NULL: no rank has said anything. */
const drail_error_t *outcome_cause(const outcome_t *outcome);

#endif
