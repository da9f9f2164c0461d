/* SPDX-License-Identifier: BSD-3-Clause */
/* Within a node (build/smp/node_prefix.h). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"
#include "coll/build/smp/node_prefix.h"

const dcoll_algorithm_t scan_shm = {
    .name = "shm-scan",
    .collective = DCOLL_SCAN,
    .summary =
        "each posts its block in shared memory and combines those before",
    .memory = "NODE: N blocks of more than 56 bytes, in whole cache lines; "
              "TEMP: 1; N shorter ones",
    .ahead = DCOLL_AHEAD_FLAGS,
    .refuses = node_refuses_several,
    .generate = node_prefix_generate,
};
