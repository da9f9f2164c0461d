/* SPDX-License-Identifier: BSD-3-Clause */
/* Deferred release: a provider may refuse to release registered memory while a
 * peer still accesses it. It is kept, and released later. */
#ifndef DCOLL_LEFTOVERS_H
#define DCOLL_LEFTOVERS_H

#include "coll/run/team/team.h"

/* Releases the team's own mem (or NULL), then closes the segment that it
 * belongs to (NULL: it belongs to none). If that is refused, keeps both for
 * later: peers may still access the memory. A team that hurries does not wait
 * for them. */
void release_or_defer(dcoll_team_t *team, drail_mem_t *mem,
                      struct segment *segment);
/* Releases a handle of a user's memory. Always waits for peers: the user may
 * free the memory afterwards. 0, or the team's error: they may still access it,
 * and the handle is kept for later. */
int release_users(dcoll_team_t *team, drail_mem_t *mem);
/* Tries again to release what was refused before. Waits for no peer. */
void deferred_release_retry(dcoll_team_t *team);
/* When the team is freed: a last attempt. Memory that is still refused stays
 * mapped for good. */
void deferred_release_end(dcoll_team_t *team);

#endif
