/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A2 (Liu et al. 2002, section 3.1.2; Ranka, Bader): two stages. The elements
 * for each destination go in equal slices to all ranks, and from there to their
 * destination.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/stages.h"

const dcoll_algorithm_t alltoallv_a2 = {
    .name = "a2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "two stages, of slices dealt evenly (Liu et al. 2002, 3.1.2)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a2,
    .form = STAGES_B,
};

const dcoll_algorithm_t alltoallv_a2_n1 = {
    .name = "a2-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "two stages, of slices dealt evenly, non-blocking (Liu et al. "
               "2002, 3.1.2)",
    .memory = "TEMP: N messages to send, N received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a2,
    .form = STAGES_N1,
};

const dcoll_algorithm_t alltoallv_a2_n2 = {
    .name = "a2-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "two stages, of slices dealt evenly, non-blocking, two send "
               "buffers (Liu et al. 2002, 3.1.2)",
    .memory = "TEMP: N messages to send, N received; twice, and for each stage",
    .depth = 2,
    .refuses = stages_refuse,
    .stages = &stages_a2,
    .form = STAGES_N2,
};
