/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of `railbench dsm`, by kind. */
#include "part.h"

const dsm_part_t *const dsm_parts[DSM_PARTS] = {
    [DSM_FETCH] = &dsm_fetch,     [DSM_RANGE] = &dsm_range,
    [DSM_DIFF] = &dsm_diff,       [DSM_LOCK] = &dsm_lock,
    [DSM_BARRIER] = &dsm_barrier, [DSM_JACOBI] = &dsm_jacobi,
    [DSM_LU] = &dsm_lu,           [DSM_SORT] = &dsm_sort,
    [DSM_NBODY] = &dsm_nbody};
