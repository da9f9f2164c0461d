/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of an all-gather whose far dimension comes first (PAT: Jeaugey 2025,
 * arXiv 2506.20252; here for k ports): the distances of Bruck's all-gather in
 * the opposite order. So few blocks go far, and many near.
 *
 * A block travels from its rank, at offset 0, to the ranks at offsets 1 … n - 1
 * after it. In each step, a rank at offset o that has the block sends it to
 * those at o + d, o + 2d … o + kd, as far as these are below n. d is
 * (k+1)^(steps-1) in the first step, and 1 in the last one. Each rank does that
 * with the blocks of all ranks before it, so all ranks have the blocks of the
 * same offsets.
 *
 * In a step the ranks at all offsets send through all ports, but for the
 * largest offset, which uses the first few ports only. A rank keeps the block
 * of the largest offset last. Blocks that come through these ports go behind
 * it; blocks that come through the other ports go in front. So each message is
 * consecutive at both ends, and n places are enough.
 */
#ifndef DCOLL_FAR_H
#define DCOLL_FAR_H

#include <stdbool.h>

struct far {
    unsigned n, k, steps; /**< steps: ⌈log_{k+1} n⌉ */
};

struct far_step {
    unsigned distance;     /**< of port 0: d */
    unsigned begin, count; /**< before the step, places begin … begin + count
                                - 1 have blocks */
    unsigned whole;        /**< ports 0 … whole - 1 receive `count` blocks
                                each, the others one less */
};

/** A message: the first @p count blocks of the rank at @p distance before the
 *  receiver, which keeps them from @p place on. */
struct far_message {
    unsigned distance, place, count;
};

struct far far_of(unsigned n, unsigned k);
/** Step 0 is that of the largest distance. */
struct far_step far_step(const struct far *f, unsigned step);
/** Which message a rank receives through port p < k in this step. false: it
 *  receives none. */
bool far_message(const struct far_step *s, unsigned port,
                 struct far_message *m);
/** How far the rank whose block lies at a place is before the receiver. */
unsigned far_offset(const struct far *f, unsigned place);

#endif
