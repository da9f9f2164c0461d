/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connecting to a peer over each rail that reaches it, step by step: nothing
 * here waits. The lower rank is the active side. A link that does not come up
 * while others do is lost (failover/loss.h): it may come up later.
 *
 * The files of this folder, in reading order:
 *
 *   roster.h       hosts and addresses of all ranks
 *   reach.h        the rails by which ranks reach each other
 *   hello.h        what both ends tell each other in a request and its answer
 *   conn_request.h sending and accepting a request
 *   solicit.h      the higher rank asks the lower one to connect
 *   attempt.h      one attempt to connect to a peer
 *   connect.h      the links of an attempt, and connection events
 *   requests.h     the passive side: requests that have come
 *   unconnected.h  an unfinished connection, in words
 */
#ifndef DRAIL_LINKS_CONNECT_CONNECT_H
#define DRAIL_LINKS_CONNECT_CONNECT_H

#include "dapl_rail/dapl_rail.h"

struct peer;
struct rail;

/* Makes the links to the peer that there are not yet, without EPs. 0 or an
 * error. */
int connect_links(struct peer *peer);
/* Active side: sends the peer a request for each link. 0 or an error. */
int connect_ask(struct peer *peer);
/* Passive side: drops links that failed before they were up: the peer asks
 * again. True: some of them have not ended yet. */
bool connect_drop_stale(drail_t *t, struct peer *peer);
/* Links that do not come up in time after the first one are lost. If none can
 * come up any more, all end. */
void connect_leave_out(struct peer *peer);
/* Has any link been up, and is each other one up or lost? */
bool connect_done(const struct peer *peer);
/* The error of an attempt that cannot succeed, or 0. */
int connect_error(struct peer *peer);
/* Frees all links to the peer and what belongs to them. The peer can be
 * connected again. */
void peer_free(struct peer *peer);
/* Handles the rail's connection events and asynchronous errors. */
void rail_check(struct rail *rail);

#endif
