/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ranks for an exchange that needs a power of k+1 of them. Let M be the largest
 * such power that is not above n: they form M clusters of at most k+1 ranks
 * that follow each other, of which the first is the core. Cores do the
 * exchange: in the step of weight w, those k+1 that differ in the digit of that
 * weight, to the base k+1, are partners.
 */
#ifndef DCOLL_CLUSTERS_H
#define DCOLL_CLUSTERS_H

struct clusters {
    unsigned n, radix;
    unsigned count; /**< M */
    unsigned own;   /**< that of the rank for which it was made */
};

struct clusters clusters_of(unsigned n, unsigned radix, unsigned rank);
/** For exchanges of whole blocks: the largest radix that is not above that one,
 *  of which n is a power; else that one, or n if that is less. */
unsigned clusters_radix(unsigned n, unsigned radix);
/** First rank of a cluster; of cluster M: n. */
unsigned clusters_begin(const struct clusters *c, unsigned cluster);
/** Of the exchange between the cores. */
unsigned clusters_steps(const struct clusters *c);
/** The own cluster's digit of @p weight. */
unsigned clusters_digit(const struct clusters *c, unsigned weight);
/** Core of the cluster at @p distance in the group of clusters that differ in
 *  that digit only, with wrap-around. */
unsigned clusters_partner(const struct clusters *c, unsigned weight,
                          unsigned distance);

#endif
