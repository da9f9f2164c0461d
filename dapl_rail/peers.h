/* SPDX-License-Identifier: BSD-3-Clause */
/* How public calls on a peer begin and end. */
#ifndef DRAIL_PEERS_H
#define DRAIL_PEERS_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* A connected peer by rank, or NULL with the error set in *rc. */
struct peer *peer_get(drail_t *t, unsigned rank, int *rc);
/* What the call returns: adds the sentence that only it can know (the peer's
 * error, a time that ran out, an interruption). */
int outcome(drail_t *t, struct peer *peer, int rc, const char *call);

#endif
