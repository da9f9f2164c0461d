/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * SMP-aware reductions of long blocks. Phases: 1 ranks of a node combine slices
 * of its blocks, 2 each exchanges its slice with those that own it on the other
 * nodes, by recursive halving through k ports, from NODE to NODE, 3 the result
 * is copied. So all ranks' connections are active, as in the multi-connection
 * algorithms of seed 002, and a node sends each byte as often as one rank
 * would.
 *
 * There are as many owners as the smallest node has ranks.
 */
#ifndef DCOLL_SMP_SLICES_H
#define DCOLL_SMP_SLICES_H

#include "coll/build/reduce/halving.h"
#include "coll/build/smp/node_slices.h"

struct smp_slices {
    struct node node;
    struct node_slices slices; /* to a vector in NODE, from 0 on */
    dcoll_args_t slice;        /* mine; of 0 bytes: I own none */
    struct halving exchange;   /* of that, with its owners on other nodes */
};

/* Stays where it is. Tells the schedule what memory and flags it takes. */
void smp_slices_open(struct smp_slices *x, const dcoll_shape_t *shape,
                     const dcoll_args_t *args, unsigned rank, grant_t grant,
                     dcoll_schedule_t *s);
/* Phase 1. */
void smp_slices_combine(const struct smp_slices *x);
/* The vector's slice of mine is as it is to be read. */
void smp_slices_signal(const struct smp_slices *x);
/* Until all owners of my node have said so; of `lag` starts before. */
void smp_slices_await(const struct smp_slices *x, unsigned lag);
/* Phase 3: the vector to RECV, slice by slice, as its owners say so. */
void smp_slices_copy_out(const struct smp_slices *x);
/* That place of the vector. */
dcoll_place_t smp_slices_at(size_t offset);

#endif
