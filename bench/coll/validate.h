/* SPDX-License-Identifier: BSD-3-Clause */
/* The separate pass that checks data. */
#ifndef BENCH_COLL_VALIDATE_H
#define BENCH_COLL_VALIDATE_H

#include "operation.h"
#include "step.h"

/** Several starts back to back with fresh contents on ranks that are not in
 *  step, every byte checked. @p operation: that the calls of a reduction do;
 *  NULL: it is none. @p valid: on this rank. */
int coll_validate(coll_run_t *run, const coll_cell_t *cell,
                  const operation_t *operation, bool *valid);

#endif
