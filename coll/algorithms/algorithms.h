/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms: one file each, named after the constant. These lists are the
 * only ones; their names and collectives are in their files. */
#ifndef DCOLL_ALGORITHMS_H
#define DCOLL_ALGORITHMS_H

#include "coll/schedule.h"

#define DCOLL_ALGORITHM_LIST(USE)                                              \
    /* within one node */                                                      \
    USE(gather_shm)                                                            \
    USE(allgather_shm)                                                         \
    USE(allgather_pull)                                                        \
    USE(alltoall_shm)                                                          \
    USE(alltoall_pull)                                                         \
    USE(bcast_shm)                                                             \
    USE(scatter_shm)                                                           \
    USE(barrier_shm)                                                           \
    USE(reduce_shm)                                                            \
    USE(reduce_shm_slices)                                                     \
    USE(reduce_shm_chain)                                                      \
    USE(allreduce_shm)                                                         \
    USE(allreduce_shm_slices)                                                  \
    USE(allreduce_shm_chain)                                                   \
    USE(reduce_scatter_block_shm)                                              \
    USE(reduce_scatter_block_shm_chain)                                        \
    USE(scan_shm)                                                              \
    USE(scan_shm_chain)                                                        \
    USE(exscan_shm)                                                            \
    USE(exscan_shm_chain)                                                      \
    /* flat: over all ranks (Qian and Afsahi 2008, section 5.1, and what       \
     * these are compared with) */                                             \
    USE(gather_binomial)                                                       \
    USE(gather_direct)                                                         \
    USE(gather_tree)                                                           \
    USE(allgather_direct)                                                      \
    USE(allgather_exchange)                                                    \
    USE(allgather_bruck)                                                       \
    USE(allgather_pat)                                                         \
    USE(allgather_ring)                                                        \
    USE(allgather_circulant)                                                   \
    USE(allgather_doubling)                                                    \
    USE(allgather_gather_bcast)                                                \
    USE(alltoall_direct)                                                       \
    USE(alltoall_exchange)                                                     \
    USE(alltoall_bruck)                                                        \
    USE(alltoall_radix)                                                        \
    USE(alltoall_pairwise)                                                     \
    USE(alltoall_permission)                                                   \
    USE(bcast_binomial)                                                        \
    USE(bcast_direct)                                                          \
    USE(bcast_scatter_allgather)                                               \
    USE(bcast_circulant)                                                       \
    USE(scatter_binomial)                                                      \
    USE(scatter_direct)                                                        \
    USE(barrier_dissemination)                                                 \
    USE(reduce_binomial)                                                       \
    USE(reduce_direct)                                                         \
    USE(reduce_circulant)                                                      \
    USE(allreduce_doubling)                                                    \
    USE(allreduce_halving)                                                     \
    USE(allreduce_bruck)                                                       \
    USE(allreduce_direct)                                                      \
    USE(allreduce_shares)                                                      \
    USE(reduce_scatter_block_bruck)                                            \
    USE(reduce_scatter_block_pat)                                              \
    USE(reduce_scatter_block_direct)                                           \
    USE(scan_doubling)                                                         \
    USE(exscan_doubling)                                                       \
    /* SMP-aware (Qian and Afsahi 2008, section 5.2) */                        \
    USE(gather_smp)                                                            \
    USE(bcast_smp)                                                             \
    USE(bcast_smp_circulant)                                                   \
    USE(barrier_smp)                                                           \
    USE(reduce_smp)                                                            \
    USE(reduce_smp_slices)                                                     \
    USE(allreduce_smp_doubling)                                                \
    USE(allreduce_smp_slices)                                                  \
    USE(reduce_scatter_block_smp_bruck)                                        \
    USE(allgather_smp_gather_bcast)                                            \
    USE(allgather_smp_gather_bcast_tree)                                       \
    USE(allgather_smp_direct)                                                  \
    USE(allgather_smp_bruck)                                                   \
    USE(allgather_smp_bruck_all)                                               \
    USE(alltoall_smp_gather_scatter)                                           \
    USE(alltoall_smp_direct)                                                   \
    USE(alltoall_smp_bruck)                                                    \
    /* multi-connection (Qian et al. 2008, section 5) */                       \
    USE(allgather_mc_single)                                                   \
    USE(allgather_mc_single_ring)                                              \
    USE(allgather_mc_gather)                                                   \
    USE(allgather_mc_2group)                                                   \
    USE(allgather_mc_allgroup)                                                 \
    USE(allgather_mc_groups)

/* clang-format off: an algorithm a line */
/* Irregular (most: Liu et al. 2002). */
#define DCOLL_IRREGULAR_LIST(USE)                                              \
    USE(alltoallv_shm)                                                         \
    USE(alltoallv_smp)                                                         \
    USE(alltoallv_direct)                                                      \
    USE(alltoallv_birkhoff)                                                    \
    USE(alltoallv_radix)                                                       \
    USE(alltoallv_a1)                                                          \
    USE(alltoallv_a1_n1)                                                       \
    USE(alltoallv_a1_n2)                                                       \
    USE(alltoallv_a2)                                                          \
    USE(alltoallv_a2_n1)                                                       \
    USE(alltoallv_a2_n2)                                                       \
    USE(alltoallv_a3)                                                          \
    USE(alltoallv_a3_n1)                                                       \
    USE(alltoallv_a3_n2)                                                       \
    USE(alltoallv_mesh)                                                        \
    USE(alltoallv_mesh_n1)                                                     \
    USE(alltoallv_mesh_n2)                                                     \
    USE(alltoallv_a4)                                                          \
    USE(alltoallv_a4_n1)                                                       \
    USE(alltoallv_a4_n2)
/* clang-format on */

#define DCOLL_DECLARE(algorithm) extern const dcoll_algorithm_t algorithm;
DCOLL_ALGORITHM_LIST(DCOLL_DECLARE)
DCOLL_IRREGULAR_LIST(DCOLL_DECLARE)
#undef DCOLL_DECLARE

#endif
