/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred release: a provider may refuse to release registered memory while a
 * peer still accesses it. It is kept, and released later. */
#ifndef DCOLL_LEFTOVERS_H
#define DCOLL_LEFTOVERS_H

#include "coll/run/team/team.h"

/* Releases mem (or NULL), then closes the segment that it belongs to (NULL: it
 * belongs to none). If that is refused, keeps both for later, and returns
 * the transport's error: peers may still access the memory. */
int release_or_defer(dcoll_team_t *team, drail_mem_t *mem,
                     struct segment *segment);
/* Tries again to release what was refused before. */
void deferred_release_retry(dcoll_team_t *team);
/* When the team is freed: memory that is still refused stays mapped for good.
 */
void deferred_release_end(dcoll_team_t *team);

#endif
