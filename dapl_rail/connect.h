/* SPDX-License-Identifier: BSD-3-Clause */
/* Connects a peer for an operation. */
#ifndef DRAIL_CONNECT_H
#define DRAIL_CONNECT_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Connects a peer that is not connected, within timeout_ms. 0: makes one step,
 * and returns DRAIL_EAGAIN if the connection is not there yet. */
int connection_make(drail_t *t, struct peer *peer, int timeout_ms);

#endif
