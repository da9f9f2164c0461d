/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A3 (Liu et al. 2002, section 3.1.3): two stages in a square array. The
 * elements of (i1, j1) for (i2, j2) go to (i1, j2) and then, with those of the
 * other ranks of row i1, to their destination.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/stages.h"

const dcoll_algorithm_t alltoallv_a3 = {
    .name = "a3",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of a square array (Liu et al. 2002, 3.1.3)",
    .memory = "TEMP: sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse_unsquare,
    .stages = &stages_a3,
    .form = STAGES_B,
};

const dcoll_algorithm_t alltoallv_a3_n1 = {
    .name = "a3-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of a square array, non-blocking (Liu et "
               "al. 2002, 3.1.3)",
    .memory = "TEMP: sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse_unsquare,
    .stages = &stages_a3,
    .form = STAGES_N1,
};

const dcoll_algorithm_t alltoallv_a3_n2 = {
    .name = "a3-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of a square array, non-blocking, two send "
               "buffers (Liu et al. 2002, 3.1.3)",
    .memory = "TEMP: sqrt(N) messages to send, sqrt(N) received; twice, and "
              "for each stage",
    .depth = 2,
    .refuses = stages_refuse_unsquare,
    .stages = &stages_a3,
    .form = STAGES_N2,
};
