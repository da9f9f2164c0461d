/* SPDX-License-Identifier: BSD-3-Clause */
/* Connecting to a peer over every rail, step by step: nothing here waits. What
 * does not come up while other links do, is lost (loss.h): it may come up
 * later. */
#ifndef DRAIL_LINKS_CONNECT_CONNECT_H
#define DRAIL_LINKS_CONNECT_CONNECT_H

#include "dapl_rail/dapl_rail.h"

struct peer;
struct rail;

/* Makes all links to the peer, without EPs; none where they are there. */
int connect_links(struct peer *peer);
/* Active side: asks the peer for all links. */
int connect_ask(struct peer *peer);
/* Passive side: links whose request was out of date are given up, for the
 * peer asks again. Are there any that have not ended yet? */
bool connect_renew(drail_t *t, struct peer *peer);
/* Links that do not come up in time after the first one are lost; where none
 * can come up any more, all end. */
void connect_leave_out(struct peer *peer);
/* Has a link to it been up, and are those that have not been known to be lost?
 */
bool connect_done(const struct peer *peer);
/* Why it can't be done, or 0: also when a link that has been up is gone. */
int connect_error(struct peer *peer);
/* Frees all links to the peer and what belongs to them; it can be connected
 * to again. */
void peer_free(struct peer *peer);
/* Looks for connection events and asynchronous errors. */
void rail_check(struct rail *rail);

#endif
