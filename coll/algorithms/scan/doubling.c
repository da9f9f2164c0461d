/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive doubling for k ports (build/reduce/prefix.h). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/prefix.h"

const dcoll_algorithm_t scan_doubling = {
    .name = "doubling",
    .collective = DCOLL_SCAN,
    .summary = "k-port recursive doubling",
    .memory = "TEMP: 1 + (k+2) ⌈log_{k+1} N⌉ blocks",
    .generate = prefix_generate,
};
