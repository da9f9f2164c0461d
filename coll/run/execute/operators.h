/* SPDX-License-Identifier: BSD-3-Clause */
/* Reductions of basic types, compiled for several instruction sets. */
#ifndef DCOLL_OPERATORS_H
#define DCOLL_OPERATORS_H

#include <stdbool.h>

#include "coll/dcoll.h"

enum operators_set { OPERATORS_BASELINE, OPERATORS_AVX2 };

/* Does this machine have these instructions? */
bool operators_run(enum operators_set set);
/* As dcoll_reduction(), for one instruction set. */
const dcoll_reduction_t *operators_find(enum operators_set set,
                                        dcoll_type_t type, dcoll_operator_t op);

#endif
