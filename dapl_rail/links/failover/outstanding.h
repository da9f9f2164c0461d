/* SPDX-License-Identifier: BSD-3-Clause */
/* How much a link has under way, and how much is complete. */
#ifndef DRAIL_LINKS_FAILOVER_OUTSTANDING_H
#define DRAIL_LINKS_FAILOVER_OUTSTANDING_H

#include <stdbool.h>
#include <stdint.h>

struct link;
struct peer;

/* Is a request with an event under way on the link's EP? The link must have a
 * journal, as for the next function. */
bool link_awaits_event(const struct link *link);
/* Bytes up to the next event; without one, all that are under way. */
uint64_t link_outstanding(const struct link *link);
/* The same, the most of any link to the peer. */
uint64_t peer_outstanding(const struct peer *peer);
/* A number that grows with each request of the link that completes. */
uint64_t link_completed(const struct link *link);
/* The same of all links to the peer over these rails, and of those that are
 * closed; it also grows with the progress that the peer reports. */
uint64_t peer_completed(const struct peer *peer, uint32_t rails);

#endif
