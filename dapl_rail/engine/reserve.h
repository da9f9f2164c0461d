/* SPDX-License-Identifier: BSD-3-Clause */
/* Credits for a message to one peer, which may have parts on several rails. */
#ifndef DRAIL_ENGINE_RESERVE_H
#define DRAIL_ENGINE_RESERVE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Waits until each of these EPs of each of these rails has a credit, and takes
 * them: all or none. timeout_ms 0: does not wait, but returns DRAIL_EAGAIN. */
int links_reserve(drail_t *t, struct peer *peer, uint32_t rails, uint32_t eps,
                  int timeout_ms);
/* Gives them back. */
void links_unreserve(struct peer *peer, uint32_t rails, uint32_t eps);

#endif
