/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of an all-gather whose far dimension comes first (PAT: Jeaugey 2025,
 * arXiv 2506.20252; here for k ports): the distances of Bruck's all-gather in
 * the opposite order. So few blocks go far, and many near.
 *
 * A block travels from its rank, at offset 0, to the ranks at offsets 1 … n - 1
 * after it. In each step, a rank at offset o that has the block sends it to
 * those at o + d, o + 2d … o + kd, as far as these are below n. d is
 * (k+1)^(steps-1) in the first step, and 1 in the last one. All ranks do that
 * with the blocks of all ranks before them, so all have those at the same
 * offsets.
 *
 * In a step the ranks at all offsets send through all ports, but for the
 * largest offset, which uses the first few ports only. A rank keeps its blocks
 * in an order with that one at its end: what comes through these ports goes
 * behind it, what comes through the others goes in front. So each message is
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
    unsigned begin, count; /**< the places that are filled before the step */
    unsigned whole;        /**< so many ports bring all of them */
};

/** A message: the first @p count blocks of the sender, to consecutive places.
 */
struct far_message {
    unsigned distance, place, count;
};

struct far far_of(unsigned n, unsigned k);
/** Step 0 is that of the largest distance. */
struct far_step far_step(const struct far *f, unsigned step);
/** What comes through port p < k. false: no message. */
bool far_message(const struct far_step *s, unsigned port,
                 struct far_message *m);
/** The offset of the block at a place. */
unsigned far_offset(const struct far *f, unsigned place);

#endif
