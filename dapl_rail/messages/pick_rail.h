/* SPDX-License-Identifier: BSD-3-Clause */
/* Picks the rail for a message that is not striped. */
#ifndef DRAIL_MESSAGES_PICK_RAIL_H
#define DRAIL_MESSAGES_PICK_RAIL_H

#include <stddef.h>
#include <stdint.h>

struct peer;

/* The rail, among these, for a message of so many bytes to the peer. */
unsigned pick_rail(const struct peer *peer, uint32_t rails, size_t bytes);

#endif
