/* SPDX-License-Identifier: BSD-3-Clause */
/* What public calls on a peer return. */
#ifndef DRAIL_OUTCOME_H
#define DRAIL_OUTCOME_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Adds the sentence that only the call can know (the peer's error, a time that
 * ran out, an interruption). */
int outcome(drail_t *t, struct peer *peer, int rc, const char *call);

#endif
