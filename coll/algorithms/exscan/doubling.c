/* SPDX-License-Identifier: BSD-3-Clause */
/* 123-doubling for k ports (build/reduce/prefix.h). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/prefix.h"

const dcoll_algorithm_t exscan_doubling = {
    .name = "doubling",
    .collective = DCOLL_EXSCAN,
    .summary = "k-port 123-doubling (Träff 2025)",
    .memory = "TEMP: 1 + (k+2) ⌈log_{k+1} N⌉ blocks",
    .generate = prefix_generate,
};
