/* SPDX-License-Identifier: BSD-3-Clause */
/* Links that are lost go on over others of the same peer. */
#ifndef DRAIL_LINKS_FAILOVER_LOSS_H
#define DRAIL_LINKS_FAILOVER_LOSS_H

#include <stdbool.h>

#include "dapl_rail/base/handle.h"

struct link;

/* Takes all of that a step further; without waiting, and not while several
 * threads are at work. */
void lost_go_on(drail_t *t);

/* Whoever closes: has all been told that the peer must know of what has come
 * over this link? */
bool lost_told(const struct link *link);

/* When something has happened, or is awaited, that concerns a lost link. */
static inline void lost_serve(drail_t *t)
{
    if (atomic_load_explicit(&t->unsettled, memory_order_relaxed) &&
        !t->parallel)
        lost_go_on(t);
}

#endif
