/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of all algorithms. */
#include <string.h>

#include "algorithms.h"

static const dcoll_algorithm_t *const table[] = {
    /* within one node */
    &gather_shm,
    &allgather_shm,
    &allgather_pull,
    &alltoall_shm,
    &alltoall_pull,
    &bcast_shm,
    &scatter_shm,
    &barrier_shm,

    /* flat */
    &gather_binomial,
    &gather_direct,
    &gather_tree,
    &allgather_direct,
    &allgather_exchange,
    &allgather_bruck,
    &allgather_ring,
    &allgather_doubling,
    &allgather_gather_bcast,
    &alltoall_direct,
    &alltoall_exchange,
    &alltoall_bruck,
    &alltoall_pairwise,
    &alltoall_permission,
    &bcast_binomial,
    &bcast_direct,
    &scatter_binomial,
    &scatter_direct,
    &barrier_dissemination,

    /* SMP-aware */
    &gather_smp,
    &bcast_smp,
    &barrier_smp,
    &allgather_smp_gather_bcast,
    &allgather_smp_gather_bcast_tree,
    &allgather_smp_direct,
    &allgather_smp_bruck,

    /* multi-connection */
    &allgather_mc_single,
    &allgather_mc_single_ring,
    &allgather_mc_gather,
    &allgather_mc_2group,
    &allgather_mc_allgroup,
    &allgather_mc_groups,

    NULL,
};

const dcoll_algorithm_t *const *dcoll_algorithms(void)
{
    return table;
}

const dcoll_algorithm_t *dcoll_algorithm_find(dcoll_collective_t collective,
                                              const char *name)
{
    for (const dcoll_algorithm_t *const *a = table; *a; a++)
        if ((*a)->collective == collective && !strcmp((*a)->name, name))
            return *a;
    return NULL;
}
