/* SPDX-License-Identifier: BSD-3-Clause */
/* What a link is to others of its peer's: lost, and carried by one; carrying;
 * asked for while one is silent. */
#ifndef DRAIL_LINKS_FAILOVER_FAILOVER_H
#define DRAIL_LINKS_FAILOVER_FAILOVER_H

struct link;

/* Where it has a journal. Else it stays as it is at first, and is not to be
 * written to. 0 or DRAIL_ENOMEM. */
int beside_open(struct link *link);
void beside_close(struct link *link);

#endif
