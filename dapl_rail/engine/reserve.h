/* SPDX-License-Identifier: BSD-3-Clause */
/* Credits for a message, or its parts on several rails, to one peer. */
#ifndef DRAIL_ENGINE_RESERVE_H
#define DRAIL_ENGINE_RESERVE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Waits until there is one on each of these EPs of each of these rails, and
 * takes them: all or none. timeout_ms 0: DRAIL_EAGAIN. */
int links_reserve(drail_t *t, struct peer *peer, uint32_t rails, uint32_t eps,
                  int timeout_ms);
/* Gives back what is not needed. */
void links_unreserve(struct peer *peer, uint32_t rails, uint32_t eps);

#endif
