/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank offers those of its node in NODE: a head, a table with an entry
 * for each rank of the node, and elements. */
#ifndef DCOLL_OFFER_H
#define DCOLL_OFFER_H

#include <stdint.h>

struct offer_head {
    int64_t error;    /**< why it has nothing for anybody; 0: it has */
    uint64_t element; /**< bytes */
};

struct offer {
    uint64_t elements;
    uint64_t at; /**< bytes from the head on; with OFFER_PULL where it is in the
                      rank's memory or, if that can't be read, in SEND */
};

#define OFFER_PULL ((uint64_t)1 << 63)

#endif
