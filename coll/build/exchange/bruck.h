/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steps of Bruck's all-gather for k ports and any n (Qian and Afsahi 2008,
 * section 5.1.2). A rank that has w blocks receives up to k times as many: port
 * p brings c of them from the rank at distance w + pc. c = w in whole steps; in
 * the last, partial step the n - w missing blocks are spread evenly, c =
 * ⌈(n-w)/k⌉.
 *
 * The paper's last step sends the first n - (k+1)^⌊log_{k+1} n⌋ blocks to all
 * its destinations: right for k = 1 only. Without even spreading the last step
 * costs min(w, n-w) blocks, and the paper's "same as (1), for any N" does not
 * hold.
 */
#ifndef DCOLL_BRUCK_H
#define DCOLL_BRUCK_H

#include <stdbool.h>

struct bruck_step {
    unsigned have, chunk; /**< w and c */
    unsigned end;         /**< blocks after the step */
};

/** The step of a rank that has @p have < n blocks. There are flat_steps(). */
struct bruck_step bruck_step_from(unsigned n, unsigned k, unsigned have);
/** Which message arrives through port p < k in this step: the first @p count
 *  blocks of the rank at @p distance. false: no message arrives. */
bool bruck_message(struct bruck_step step, unsigned port, unsigned *distance,
                   unsigned *count);
/** bruck_message() of step @p step, from 0, of an all-gather of n ranks. */
bool bruck_message_of(unsigned n, unsigned k, unsigned step, unsigned port,
                      unsigned *distance, unsigned *count);

#endif
