/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whoever closes tells for each link what has come over it, ever, over another
 * link. For the peer may lose a link, and with it what it has heard of its
 * messages, without this end knowing of it: then that says which have been
 * delivered. What comes later is not.
 */
#ifndef DRAIL_LINKS_FAILOVER_FINAL_COUNTS_H
#define DRAIL_LINKS_FAILOVER_FINAL_COUNTS_H

struct link;
struct peer;
struct wire;

/* Posts it, where there is room: a loss just then is rare enough. */
void farewell_send(const struct peer *peer);
/* The peer's has come, for this link. */
void farewell_arrived(struct link *lane, const struct wire *wire);

#endif
