/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Clusters: for exchanges that need a power of k+1 members. Let M be the
 * largest power of k+1 with M <= n. The n ranks form M clusters of at most k+1
 * consecutive ranks; the first rank of each is its core. Only cores take part
 * in the exchange: in the step of weight w, the k+1 cores whose numbers differ
 * only in the digit of that weight, to the base k+1, are partners.
 */
#ifndef DCOLL_CLUSTERS_H
#define DCOLL_CLUSTERS_H

struct clusters {
    unsigned n, radix;
    unsigned count; /**< M */
    unsigned own;   /**< this rank's cluster */
};

struct clusters clusters_of(unsigned n, unsigned radix, unsigned rank);
/** The radix for exchanges of whole blocks: the largest one up to @p radix of
 *  which n is a power; if there is none, the smaller of @p radix and n. */
unsigned clusters_radix(unsigned n, unsigned radix);
/** The first rank of a cluster; n for cluster M. */
unsigned clusters_begin(const struct clusters *c, unsigned cluster);
/** The number of steps of the exchange between cores. */
unsigned clusters_steps(const struct clusters *c);
/** The digit of @p weight of this rank's cluster. */
unsigned clusters_digit(const struct clusters *c, unsigned weight);
/** The core of a cluster that differs from this rank's in the digit of @p
 * weight only: by @p distance, with wrap-around. */
unsigned clusters_partner(const struct clusters *c, unsigned weight,
                          unsigned distance);

#endif
