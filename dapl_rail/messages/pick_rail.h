/* SPDX-License-Identifier: BSD-3-Clause */
/* Picks the rail for a message that is not striped. */
#ifndef DRAIL_MESSAGES_PICK_RAIL_H
#define DRAIL_MESSAGES_PICK_RAIL_H

#include <stddef.h>
#include <stdint.h>

#include "dapl_rail/links/peer.h"
#include "dapl_rail/stripe/tuning/cut.h"

/* The rail, among these, on which a message of so many bytes ends first. */
unsigned pick_sooner_rail(const struct peer *peer, uint32_t rails,
                          size_t bytes);
/* The rail, among these, for a message of so many bytes to the peer. */
static inline unsigned pick_rail(const struct peer *peer, uint32_t rails,
                                 size_t bytes)
{
    return cut_spreads(peer->owner, rails, bytes)
               ? pick_sooner_rail(peer, rails, bytes)
               : short_rail(peer->owner, rails);
}

#endif
