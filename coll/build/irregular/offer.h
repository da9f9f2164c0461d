/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a rank offers in NODE: a head, a table with an entry for each rank, and
 * elements. On its way to another node, in a bundle (bundle.h): the heads of
 * all ranks of the node, each with the entries of the other node's ranks; then
 * the elements.
 */
#ifndef DCOLL_OFFER_H
#define DCOLL_OFFER_H

#include <stdbool.h>

#include "coll/build/irregular/bundle.h"

struct offer_head {
    int64_t error;    /**< why it has nothing for anybody; 0: it has */
    uint64_t element; /**< bytes */
};

struct offer {
    uint64_t elements;
    uint64_t at; /**< bytes from the head, or the bundle's, on; with OFFER_PULL
                      where it is in the rank's memory */
};

#define OFFER_PULL  ((uint64_t)1 << 63)
#define OFFER_KEYED ((uint64_t)1 << 62) /**< a rail can get it, too */
#define OFFER_FLAGS (OFFER_PULL | OFFER_KEYED)

/** Bytes of a head with so many entries. */
static inline size_t offer_table(unsigned entries)
{
    return sizeof(struct offer_head) + entries * sizeof(struct offer);
}

/** Where a sender's head is in a bundle, and its entry for a receiver: both by
 *  their numbers on their nodes. The elements are behind all heads. */
static inline size_t offer_section(unsigned sender, unsigned receivers)
{
    return BUNDLE_HEAD + sender * offer_table(receivers);
}

static inline size_t offer_entry(unsigned sender, unsigned receivers,
                                 unsigned receiver)
{
    return offer_section(sender, receivers) + offer_table(receiver);
}

/** Rails that map memory copy without the kernel, which pays earlier. */
#define OFFER_MAPPED_PART 3

/** Of a rank whose largest part for another of its node has so many bytes: from
 *  which on parts are read where they are. Where one is, the others are waited
 *  for anyway, so that it pays for shorter ones, too. @p mapped: rails map its
 *  SEND; this may differ between ranks, and between starts. */
static inline size_t offer_least_pulled(size_t pulled, bool mapped,
                                        size_t largest)
{
    size_t first = mapped ? pulled / OFFER_MAPPED_PART : pulled;
    return largest < first ? first : first / 4;
}

#endif
