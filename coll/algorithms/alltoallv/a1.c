/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A1 (Liu et al. 2002, section 3.1.1): one stage. Each rank sorts its elements
 * by destination and sends, in step i, to the rank i after it.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/stages.h"

const dcoll_algorithm_t alltoallv_a1 = {
    .name = "a1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "one stage (Liu et al. 2002, 3.1.1)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a1,
    .form = STAGES_B,
};

const dcoll_algorithm_t alltoallv_a1_n1 = {
    .name = "a1-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "one stage, non-blocking (Liu et al. 2002, 3.1.1)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a1,
    .form = STAGES_N1,
};

const dcoll_algorithm_t alltoallv_a1_n2 = {
    .name = "a1-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary =
        "one stage, non-blocking, two send buffers (Liu et al. 2002, 3.1.1)",
    .memory = "TEMP: N messages to send, N received; twice, and for each stage",
    .depth = 2,
    .refuses = stages_refuse,
    .stages = &stages_a1,
    .form = STAGES_N2,
};
