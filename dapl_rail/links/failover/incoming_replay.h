/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages that a link brings for another one, or about it. */
#ifndef DRAIL_LINKS_FAILOVER_INCOMING_REPLAY_H
#define DRAIL_LINKS_FAILOVER_INCOMING_REPLAY_H

#include <stdbool.h>

#include "dapl_rail/links/link.h"

struct peer;

static inline bool is_foreign(const struct slot *slot)
{
    return ((const struct wire *)slot->data)->lane != 0;
}

/* NULL, or what is wrong with it. While several threads are at work, it waits:
 * it concerns another rail. */
const char *foreign_arrived(struct slot *slot);
/* Those of the peer that have waited. */
void foreign_serve(struct peer *peer);

#endif
