/* SPDX-License-Identifier: BSD-3-Clause */
/* What a lost link has in its journal, over its carrier. */
#ifndef DRAIL_LINKS_FAILOVER_OUTGOING_REPLAY_H
#define DRAIL_LINKS_FAILOVER_OUTGOING_REPLAY_H

struct link;

/* From the first record on that is not complete: what the peer is known to
 * have, is. */
void detour_begin(struct link *link, struct link *carrier);
/* Posts what there is room for. */
void detour_go_on(struct link *link);
/* Is all of it posted, over the link's own EP? */
int detour_ends(const struct link *link);
/* Nothing goes on any more, and nothing is under way: what the peer is known to
 * have is complete. */
void detour_end(struct link *link);
/* Goes on over the link's own EP, if nothing is under way elsewhere. */
void detour_turn(struct link *link);

#endif
