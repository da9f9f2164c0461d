/* SPDX-License-Identifier: BSD-3-Clause */
/* The return codes of public calls on a peer. */
#ifndef DRAIL_OUTCOME_H
#define DRAIL_OUTCOME_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* outcome() of an rc below 0. */
int outcome_of_error(drail_t *t, struct peer *peer, int rc, const char *call);

/* Returns rc, or the error of the peer's connection; writes the sentence for
 * it, for a timeout and for an interruption. */
static inline int outcome(drail_t *t, struct peer *peer, int rc,
                          const char *call)
{
    return rc >= 0 ? rc : outcome_of_error(t, peer, rc, call);
}

#endif
