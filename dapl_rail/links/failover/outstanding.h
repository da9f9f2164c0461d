/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link still has to move before its next event, and what it has moved.
 */
#ifndef DRAIL_LINKS_FAILOVER_OUTSTANDING_H
#define DRAIL_LINKS_FAILOVER_OUTSTANDING_H

#include <stdbool.h>
#include <stdint.h>

struct link;
struct peer;

/* Is an event owed by a DTO that is posted on its EP? Only of links that have a
 * journal, as what follows. */
bool link_owes(const struct link *link);
/* So many bytes come before that event; where none is owed: all. */
uint64_t link_ahead(const struct link *link);
/* The most of any link to the peer. */
uint64_t peer_ahead(const struct peer *peer);
/* A number that grows with what is complete to the peer and from it, of what
 * has been posted on links over these rails. */
uint64_t peer_completed(const struct peer *peer, uint32_t rails);

#endif
