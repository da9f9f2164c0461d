/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operations of reductions, and contents whose results are exact: they are
 * the same in any order of combining.
 */
#ifndef BENCH_COLL_OPERATION_H
#define BENCH_COLL_OPERATION_H

#include "bench/options/options.h"

typedef struct operation {
    dcoll_reduction_t reduction;
    dcoll_type_t type;
    dcoll_operator_t op; /**< DCOLL_OPERATORS: affine, on integers */
} operation_t;

/** That of --type and --op, which is there. */
operation_t operation_named(const options_t *opts);
/** Elements are maps x -> a x + b modulo a power of two, with a and b in half
 * of their bits each: one map after the other, which does not commute. @p
 * element: 1 to 8 bytes. */
operation_t operation_affine(size_t element);

/** What one of so many ranks has for it, by the stream of @p seed. */
void operation_fill(const operation_t *operation, uint8_t *block, size_t bytes,
                    unsigned rank, unsigned ranks, uint64_t seed);

/** Contents whose result, of any ranks, is what each had: they stay as they are
 *  where results are the next operands. */
void operation_fill_steady(const operation_t *operation, uint8_t *block,
                           size_t bytes);

#endif
