/* SPDX-License-Identifier: BSD-3-Clause */
/* Results are equal bit by bit for all instruction sets: ranks may have
 * different ones. */
#include "coll/run/execute/operators.h"

#include <stdint.h>

#define TARGET
#define OF_SET(name) name##_baseline
#include "coll/run/execute/operators_set.h"

#ifdef __x86_64__
#undef TARGET
#undef OF_SET
#define TARGET       __attribute__((target("avx2")))
#define OF_SET(name) name##_avx2
#include "coll/run/execute/operators_set.h"

bool operators_run(enum operators_set set)
{
    return set == OPERATORS_BASELINE || __builtin_cpu_supports("avx2");
}
#else
#define reductions_avx2 reductions_baseline

bool operators_run(enum operators_set set)
{
    return set == OPERATORS_BASELINE;
}
#endif

const dcoll_reduction_t *operators_find(enum operators_set set,
                                        dcoll_type_t type, dcoll_operator_t op)
{
    if ((unsigned)type >= DCOLL_TYPES || (unsigned)op >= DCOLL_OPERATORS)
        return NULL;
    const dcoll_reduction_t *r = set == OPERATORS_AVX2
                                     ? &reductions_avx2[type][op]
                                     : &reductions_baseline[type][op];
    return r->combine ? r : NULL;
}

const dcoll_reduction_t *dcoll_reduction(dcoll_type_t type, dcoll_operator_t op)
{
    const bool avx2 = operators_run(OPERATORS_AVX2);
    return operators_find(avx2 ? OPERATORS_AVX2 : OPERATORS_BASELINE, type, op);
}
