/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that providers look up. */
#include "offload/offload.h"

__attribute__((visibility(
    "default"))) extern const struct dapl_collectives dapl_collectives;

const struct dapl_collectives dapl_collectives = {
    .version = DAPL_COLLECTIVES_VERSION,
    .operations = DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_BARRIER_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_BROADCAST_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_GATHER_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_GATHERV_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_SCATTER_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_SCATTERV_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_ALLGATHER_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_ALLGATHERV_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_ALLTOALL_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_ALLTOALLV_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_REDUCE_OP) |
                  DAPL_COLLECTIVE_BIT(DAT_IB_COLLECTIVE_ALLREDUCE_OP),
    .create_member = member_create,
    .free_member = group_leave_member,
    .create_group = group_create,
    .free_group = group_free,
    .start = group_start,
    .progress = group_progress,
    .leave_core = group_leave_core,
    .rest = group_rest,
};
