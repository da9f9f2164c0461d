/* SPDX-License-Identifier: BSD-3-Clause */
/* Lower bounds in the k-port model, beside which `railbench prove` shows what a
 * schedule takes. */
#ifndef BENCH_PROVE_BOUNDS_H
#define BENCH_PROVE_BOUNDS_H

#include "coll/schedule.h"

/** The fewest steps of any schedule of this collective. In a step the number of
 *  ranks that know something, or about which a rank knows, grows to k+1 times
 *  as many: ⌈log_{k+1} N⌉. @p shares: ranks of a node share memory; then the
 *  same for nodes, which have the ports of all their ranks. */
unsigned bound_steps(const dcoll_shape_t *shape, bool shares);
/** A lower bound of the blocks that go through a port of some rank: what must
 *  enter or leave a rank, or with @p shares a node, divided by its ports (the
 *  cut bound of Zhao et al. 2024, ForestColl, arXiv 2402.06787: over a switch
 *  that blocks nothing no other set of ranks has a larger one); of an
 * all-reduce also what all ranks send together. @p shares: memory within nodes
 * has no bound. Ranks may have different numbers of ports
 *  (dcoll_args_t.port_begin). */
double bound_blocks(const dcoll_args_t *args, const dcoll_shape_t *shape,
                    bool shares);

#endif
