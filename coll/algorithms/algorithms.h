/* SPDX-License-Identifier: BSD-3-Clause */
/* The algorithms: one file each, named after the constant. */
#ifndef DCOLL_ALGORITHMS_H
#define DCOLL_ALGORITHMS_H

#include "coll/schedule.h"

/* flat: over all ranks (seed 000, section 5.1, and what it compares with) */
extern const dcoll_algorithm_t gather_binomial, gather_direct, gather_tree;
extern const dcoll_algorithm_t allgather_direct, allgather_exchange,
    allgather_bruck, allgather_ring, allgather_doubling, allgather_gather_bcast;
extern const dcoll_algorithm_t alltoall_direct, alltoall_exchange,
    alltoall_bruck, alltoall_pairwise, alltoall_permission;
extern const dcoll_algorithm_t bcast_binomial, bcast_direct, scatter_binomial,
    scatter_direct, barrier_dissemination;

/* within one node */
extern const dcoll_algorithm_t gather_shm, allgather_shm, alltoall_shm,
    bcast_shm, scatter_shm, barrier_shm;
extern const dcoll_algorithm_t allgather_pull, alltoall_pull;

/* SMP-aware (seed 000, section 5.2) */
extern const dcoll_algorithm_t gather_smp, bcast_smp, barrier_smp;
extern const dcoll_algorithm_t allgather_smp_gather_bcast,
    allgather_smp_gather_bcast_tree, allgather_smp_direct, allgather_smp_bruck;

/* multi-connection (seed 002, section 5) */
extern const dcoll_algorithm_t allgather_mc_single, allgather_mc_single_ring,
    allgather_mc_gather, allgather_mc_2group, allgather_mc_allgroup,
    allgather_mc_groups;

#endif
