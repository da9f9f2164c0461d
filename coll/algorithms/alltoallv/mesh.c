/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A3 for any number of ranks, which the paper does not have (section 3.1.3):
 * the array and its pseudo-nodes are those of A4.
 */
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/stages.h"

const dcoll_algorithm_t alltoallv_mesh = {
    .name = "mesh",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of any array (Liu et al. 2002, 3.1.3)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a3,
    .form = STAGES_B,
};

const dcoll_algorithm_t alltoallv_mesh_n1 = {
    .name = "mesh-n1",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of any array, non-blocking (Liu et al. "
               "2002, 3.1.3)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received",
    .depth = 1,
    .refuses = stages_refuse,
    .stages = &stages_a3,
    .form = STAGES_N1,
};

const dcoll_algorithm_t alltoallv_mesh_n2 = {
    .name = "mesh-n2",
    .collective = DCOLL_ALLTOALLV,
    .summary = "rows, then columns, of any array, non-blocking, two send "
               "buffers (Liu et al. 2002, 3.1.3)",
    .memory = "TEMP: about sqrt(N) messages to send, sqrt(N) received; twice, "
              "and for each stage",
    .depth = 2,
    .refuses = stages_refuse,
    .stages = &stages_a3,
    .form = STAGES_N2,
};
