/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank that closes tells the peer, over other links, how many messages it has
 * ever received on each link. The peer may lose a link, and with it the
 * acknowledgements of its messages, when this rank is gone. The count then says
 * which of them were delivered; later ones were not.
 */
#ifndef DRAIL_LINKS_FAILOVER_FINAL_COUNTS_H
#define DRAIL_LINKS_FAILOVER_FINAL_COUNTS_H

struct link;
struct peer;
struct wire;

/* Sends the counts, if there is room: a loss at this moment is rare enough. */
void final_counts_send(const struct peer *peer);
/* The peer's count for this link has come. */
void final_count_arrived(struct link *link, const struct wire *wire);

#endif
