/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware reductions of long blocks, in three phases: 1. the ranks of a node
 * combine slices of their blocks; 2. each owner exchanges its slice with its
 * owners on the other nodes, by recursive halving through k ports, from NODE to
 * NODE; 3. ranks copy the result. So the connections of all ranks are active,
 * as in the multi-connection algorithms of Qian, Rashti and Afsahi, and a node
 * sends each byte as often as a single rank would.
 *
 * There are as many owners as the smallest node has ranks.
 */
#ifndef DCOLL_SMP_SLICES_H
#define DCOLL_SMP_SLICES_H

#include "coll/build/reduce/halving.h"
#include "coll/build/smp/node_slices.h"

struct smp_slices {
    struct node node;
    struct node_slices slices; /* into a vector in NODE, from 0 on */
    dcoll_args_t slice;        /* mine; 0 bytes: I own none */
    struct halving exchange;   /* of my slice, with its owners on other nodes */
};

/* Initialises *x, which must not be moved, and sets the memory and flags of the
 * schedule. */
void smp_slices_open(struct smp_slices *x, const dcoll_shape_t *shape,
                     const dcoll_args_t *args, unsigned rank, grant_t grant,
                     dcoll_schedule_t *s);
/* Phase 1. */
void smp_slices_combine(const struct smp_slices *x);
/* Signals that my slice of the vector is complete. */
void smp_slices_signal(const struct smp_slices *x);
/* Waits until all owners of my node have signalled, in the start `lag` before.
 */
void smp_slices_await(const struct smp_slices *x, unsigned lag);
/* Phase 3: copies the vector to RECV, slice by slice, as owners signal. */
void smp_slices_copy_out(const struct smp_slices *x);

#endif
