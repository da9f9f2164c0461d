/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection that an operation needs. */
#ifndef DRAIL_CONNECT_H
#define DRAIL_CONNECT_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Makes one to a peer that has none, within this time; timeout_ms 0: a step of
 * it, then DRAIL_EAGAIN where it is not there yet. */
int connection_make(drail_t *t, struct peer *peer, int timeout_ms);

#endif
