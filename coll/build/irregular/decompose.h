/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The traffic between nodes as one-to-one stages (Birkhoff 1946; Lei et al.
 * 2025, arXiv 2505.09764): in a stage a node sends to at most one other node
 * and receives from at most one. Traffic that comes and goes nowhere is added
 * until all rows and columns of the matrix have the same sum; what is left of
 * such a matrix always has a stage that uses all nodes. So lengths of stages
 * add up to the largest sum of a row or column.
 */
#ifndef DCOLL_DECOMPOSE_H
#define DCOLL_DECOMPOSE_H

#include <stdbool.h>
#include <stdint.h>

/** The lengths are multiples of a quantum. With H nodes it is the largest sum
 *  over so many times H, so there are at most 17 H stages (and at most H² - 2H
 *  + 2, as each uses up an entry), and the lengths add up to at most 1/16 more;
 *  or it is `least`. */
#define DECOMPOSE_QUANTA 16u

struct decomposition {
    unsigned nodes, stages;
    unsigned capacity;
    uint64_t *length; /**< by stage: at most so many elements of each node */
    unsigned *to; /**< by stage and node: its target; itself: it does not send
                   */
};

/** @p between: elements from node i to node j at i * nodes + j, for which those
 *  within a node do not count. @p least: elements that are not divided. False:
 *  no memory. decompose_free() in either case. */
bool decompose(unsigned nodes, const uint64_t *between, uint64_t least,
               struct decomposition *out);
void decompose_free(struct decomposition *d);

/** The target of a node in a stage, and the node that sends to it; itself:
 *  none. */
unsigned decompose_target(const struct decomposition *d, unsigned stage,
                          unsigned node);
unsigned decompose_sender(const struct decomposition *d, unsigned stage,
                          unsigned node);

#endif
