/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of basic types, as they are compiled for a set of instructions. */
#ifndef DCOLL_OPERATORS_H
#define DCOLL_OPERATORS_H

#include <stdbool.h>

#include "coll/dcoll.h"

enum operators_set { OPERATORS_BASELINE, OPERATORS_AVX2 };

/* Has this machine these instructions? */
bool operators_run(enum operators_set set);
/* As dcoll_reduction. */
const dcoll_reduction_t *operators_find(enum operators_set set,
                                        dcoll_type_t type, dcoll_operator_t op);

#endif
