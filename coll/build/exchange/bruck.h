/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of Bruck's all-gather for k ports, any n (seed 000, section 5.1.2).
 * Who has w blocks gets up to k times as many: port p brings c of them, from
 * the one at distance w + pc. c = w in whole steps; in the last, partial one
 * the n - w missing blocks are spread evenly, c = ⌈(n-w)/k⌉.
 *
 * The seed's last step sends the first n - (k+1)^⌊log_{k+1} n⌋ blocks to all
 * its destinations: right for k = 1 only. Without the even spreading the last
 * step costs min(w, n-w) blocks and its "same as (1), for any N" doesn't hold.
 */
#ifndef DCOLL_BRUCK_H
#define DCOLL_BRUCK_H

#include <stdbool.h>

struct bruck_step {
    unsigned have, chunk; /**< blocks: w, c */
    unsigned end;         /**< after it */
};

/** ⌈log_{k+1} n⌉ */
unsigned bruck_steps(unsigned n, unsigned k);
/** The one that starts with @p have < n blocks. */
struct bruck_step bruck_step_from(unsigned n, unsigned k, unsigned have);
/** Through port p < k: the first @p count blocks of the one at @p distance.
 *  false: nothing. */
bool bruck_message(struct bruck_step step, unsigned port, unsigned *distance,
                   unsigned *count);

#endif
