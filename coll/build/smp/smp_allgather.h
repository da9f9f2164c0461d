/* SPDX-License-Identifier: BSD-3-Clause */
/* SMP-aware all-gather (Qian and Afsahi 2008, section 5.2.2), for any exchange
 * between masters in which each receives the blocks of the nodes after its own,
 * in order.
 */
#ifndef DCOLL_SMP_H
#define DCOLL_SMP_H

#include "coll/schedule.h"

/* How the masters of `nodes` nodes exchange through k ports. */
struct smp_exchange {
    bool all; /* a node has as many masters as the smallest node has ranks; k is
                 the ports of all of them */
    /* The number of steps; independent: no step forwards blocks of an earlier
     * one. */
    unsigned (*steps)(unsigned nodes, unsigned k);
    bool independent;
    /* The message of a step through port p < k: to the node `distance` before
     * mine, the blocks of `count` nodes from mine on. false: none. */
    bool (*message)(unsigned nodes, unsigned k, unsigned step, unsigned port,
                    unsigned *distance, unsigned *count);
};

void smp_allgather(const struct smp_exchange *exchange,
                   const dcoll_shape_t *shape, const dcoll_args_t *args,
                   unsigned rank, dcoll_schedule_t *s);

#endif
