/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck's all-to-all to any base r and for any N. Slot j of rank p has the
 * block for rank p + j (phase 1). For each digit of slot numbers to the base r,
 * slots with digit d go d places of that digit's weight further, k messages in
 * a step (phase 2): then slot j has the block that rank p - j sent here (phase
 * 3). A small base takes few steps, a large one moves few bytes.
 */
#ifndef DCOLL_BRUCK_ALLTOALL_H
#define DCOLL_BRUCK_ALLTOALL_H

#include "coll/schedule.h"

/** The schedule; radix: at least 2. */
void bruck_alltoall(const dcoll_shape_t *shape, const dcoll_args_t *args,
                    unsigned rank, unsigned radix, dcoll_schedule_t *s);

/** Its steps, and the blocks of the longest messages of all steps. */
struct bruck_toll {
    unsigned steps, blocks;
};
struct bruck_toll bruck_alltoall_toll(unsigned n, unsigned k, unsigned radix);

/** The base for blocks of that size: k+1 for short blocks, N for long ones,
 *  which then go straight to their ranks (Fan et al. 2024, arXiv 2411.02581,
 * for k = 1). */
unsigned bruck_alltoall_radix(const dcoll_shape_t *shape, size_t bytes);
/** The largest digit of slots at a weight < n. */
unsigned bruck_alltoall_digits(unsigned n, unsigned weight, unsigned radix);

#endif
