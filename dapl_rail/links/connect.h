/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting to a peer over every rail, step by step: nothing here waits. */
#ifndef DRAIL_LINKS_CONNECT_H
#define DRAIL_LINKS_CONNECT_H

#include "dapl_rail/dapl_rail.h"

struct peer;
struct rail;

/* Active side: asks the peer for all links. */
int connect_ask(drail_t *t, struct peer *peer);
/* Passive side: links whose request was out of date are given up, for the
 * peer asks again. Are there any that have not ended yet? */
bool connect_renew(drail_t *t, struct peer *peer);
/* Has every link to it been up? */
bool connect_done(const drail_t *t, const struct peer *peer);
/* Why it can't be done, or 0: also when a link that has been up is gone. */
int connect_error(struct peer *peer);
/* Frees all links to the peer and what belongs to them; it can be connected
 * to again. */
void peer_free(struct peer *peer);
/* Looks for connection events and asynchronous errors. */
void rail_check(struct rail *rail);

#endif
