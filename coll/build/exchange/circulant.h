/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Schedules of an n-block broadcast on a circulant graph in the fewest rounds,
 * n - 1 + ⌈log₂ N⌉ with one port (Träff 2025, arXiv 2407.18004). In round i
 * rank r receives from the rank skip[i mod q] before it, with wrap-around,
 * where q = ⌈log₂ N⌉, skip[q] = N and each skip is half of the next one,
 * rounded up.
 *
 * In each phase of q rounds a rank other than 0 receives q different blocks. A
 * rank number is a sum of different skips, the largest first; the smallest of
 * them is the rank's base. Rank 0 sends block k to rank skip[k], and all ranks
 * with base k receive it in the same phase. All other blocks that a rank
 * receives have come to their senders in the phase before. Such a block has the
 * number of a base: in round k, that of a rank which lies between skip[k+1] and
 * skip[k] before the receiver. Adding skips finds that rank; skips that are
 * bases of the receiver's other rounds are left out.
 */
#ifndef DCOLL_CIRCULANT_H
#define DCOLL_CIRCULANT_H

#include <limits.h>
#include <stdbool.h>

#define CIRCULANT_ROUNDS_MAX 32
#define CIRCULANT_NONE       (INT_MIN / 2) /* a block of no round */

struct circulant {
    unsigned n, q;
    unsigned skip[CIRCULANT_ROUNDS_MAX + 1];
};

/** For n > 1 ranks. */
struct circulant circulant_of(unsigned n);
/** The block that a rank receives in round k < q of the first phase; q more in
 *  each later phase. Negative ones are not there yet. Not for rank 0. */
int circulant_block(const struct circulant *c, unsigned rank, unsigned k);

/* The rounds of a broadcast of several pieces. They are counted so that the
 * last phase has all of its rounds. */

unsigned circulant_first(const struct circulant *c, unsigned pieces);
unsigned circulant_last(const struct circulant *c, unsigned pieces);
/** The piece that a round moves, from the block of the same round of the first
 *  phase. false: the round moves none. */
bool circulant_piece(const struct circulant *c, unsigned pieces, int block,
                     unsigned round, unsigned *piece);

#endif
