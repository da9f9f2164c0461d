/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A4 (Liu et al. 2002, section 3.2): four stages for any number of ranks.
 * Elements are distributed evenly along rows and columns, and collected along
 * both.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/stages.h"

const dcoll_algorithm_t alltoallv_a4 = {
    .name = "a4",
    .collective = DCOLL_ALLTOALLV,
    .summary = "distributed along rows and columns, collected along both (Liu "
               "et al. 2002, 3.2)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a4,
    .form = STAGES_B,
};

const dcoll_algorithm_t alltoallv_a4_n1 = {
    .name = "a4-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "distributed along rows and columns, collected along both, "
               "non-blocking (Liu et al. 2002, 3.2)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a4,
    .form = STAGES_N1,
};

const dcoll_algorithm_t alltoallv_a4_n2 = {
    .name = "a4-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "distributed along rows and columns, collected along both, "
               "non-blocking, two send buffers (Liu et al. 2002, 3.2)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received; twice, "
              "and for each stage",
    .depth = 2,
    .refuses = stages_refuse,
    .stages = &stages_a4,
    .form = STAGES_N2,
};
