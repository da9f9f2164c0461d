/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of an offer in NODE: a head, a table with an entry for each rank,
 * and elements. A bundle (bundle.h) to another node has the heads of all ranks
 * of the node, each with the entries of the other node's ranks; then the
 * elements.
 */
#ifndef DCOLL_OFFER_H
#define DCOLL_OFFER_H

#include <stdbool.h>

#include "coll/build/irregular/bundle.h"

struct offer_head {
    int64_t
        error; /**< not 0: the rank's arguments are wrong, it offers nothing */
    uint64_t element; /**< bytes of an element */
};

struct offer {
    uint64_t elements;
    uint64_t at; /**< offset from the head, or from that of the bundle; with
                      OFFER_PULL the address in the rank's memory */
};

#define OFFER_PULL ((uint64_t)1 << 63)
#define OFFER_KEYED                                                            \
    ((uint64_t)1 << 62) /**< a rail can get it, too: it is registered */
#define OFFER_FLAGS (OFFER_PULL | OFFER_KEYED)

/** The bytes of a head with so many entries. */
static inline size_t offer_table(unsigned entries)
{
    return sizeof(struct offer_head) + entries * sizeof(struct offer);
}

/** Offsets in a bundle of a sender's head and of its entry for a receiver;
 * ranks are numbered on their nodes. The elements follow all heads. */
static inline size_t offer_section(unsigned sender, unsigned receivers)
{
    return BUNDLE_HEAD + sender * offer_table(receivers);
}

static inline size_t offer_entry(unsigned sender, unsigned receivers,
                                 unsigned receiver)
{
    return offer_section(sender, receivers) + offer_table(receiver);
}

/** Rails that map memory copy without the kernel: reading pays for shorter
 * parts, by this factor. */
#define OFFER_MAPPED_PART 3

/** From how many bytes on the parts of a rank stay in SEND. If its largest part
 * for another rank of its node stays there, the rank waits for readers anyway,
 * so shorter parts stay, too.
 *  @param mapped rails map its SEND; may differ between ranks and starts.
 *  @param largest bytes of that part. */
static inline size_t offer_least_pulled(size_t pulled, bool mapped,
                                        size_t largest)
{
    size_t first = mapped ? pulled / OFFER_MAPPED_PART : pulled;
    return largest < first ? first : first / 4;
}

#endif
