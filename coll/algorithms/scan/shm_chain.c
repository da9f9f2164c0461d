/* SPDX-License-Identifier: BSD-3-Clause */
/* Of long blocks, within a node (build/smp/node_chain.h). */
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node_chain.h"

const dcoll_algorithm_t scan_shm_chain = {
    .name = "shm-chain",
    .collective = DCOLL_SCAN,
    .summary = "each adds its block to a vector in shared memory, in turn",
    .memory = "NODE: 1 block",
    .ahead = DCOLL_AHEAD_FLAGS,
    .node_blocks = 1,
    .refuses = node_refuses_several,
    .generate = node_chain_scan,
};
