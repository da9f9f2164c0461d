/* SPDX-License-Identifier: BSD-3-Clause */
/* Links on which nothing comes to its end, though the peer is alive. */
#ifndef DRAIL_LINKS_FAILOVER_HEARTBEAT_H
#define DRAIL_LINKS_FAILOVER_HEARTBEAT_H

#include "dapl_rail/base/handle.h"

/* Looks for them, if it is time; not while several threads are at work. */
void silence_look(drail_t *t);
/* Has a wait been so long that there may be one? */
static inline bool silence_may_be(const drail_t *t, uint64_t waited_ns)
{
    return t->tuning.silence_ms &&
           waited_ns > t->tuning.silence_ms * MS / SILENCE_LOOKS;
}

#endif
