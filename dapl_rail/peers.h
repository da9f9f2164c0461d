/* SPDX-License-Identifier: BSD-3-Clause */
/* How public calls on a peer begin. */
#ifndef DRAIL_PEERS_H
#define DRAIL_PEERS_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Another rank, or NULL with the error set in *rc. */
struct peer *peer_find(drail_t *t, unsigned rank, int *rc);
/* The same, connected: if need be, now, within this time. 0: DRAIL_EAGAIN where
 * it is not there yet; negative: that of connecting. */
struct peer *peer_get(drail_t *t, unsigned rank, int timeout_ms, int *rc);

#endif
