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
 * them is its base. Rank 0 gives block k to rank skip[k], and those with base k
 * get it in the same phase. What else a rank receives from a rank, that one has
 * received in the phase before: in round k it is the base of a rank between the
 * skips k+1 and k before it, found by adding skips whose bases it does not get
 * in another round.
 */
#ifndef DCOLL_CIRCULANT_H
#define DCOLL_CIRCULANT_H

#define CIRCULANT_ROUNDS_MAX 32

struct circulant {
    unsigned n, q;
    unsigned skip[CIRCULANT_ROUNDS_MAX + 1];
};

/** For n > 1 ranks. */
struct circulant circulant_of(unsigned n);
/** The block that a rank receives in round k < q of the first phase; q more in
 *  each later phase. Negative ones are not there yet. Not for rank 0. */
int circulant_block(const struct circulant *c, unsigned rank, unsigned k);

#endif
