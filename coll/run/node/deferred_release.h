/* SPDX-License-Identifier: BSD-3-Clause */
/* Registered memory that a provider does not let go of yet, as a peer is
 * inside: it stays until it does. */
#ifndef DCOLL_LEFTOVERS_H
#define DCOLL_LEFTOVERS_H

#include "coll/run/team/team.h"

/* Releases the handle (or NULL), and closes the segment that it is of (NULL: of
 * the caller's memory). What can't be released is kept, and tried again.
 * Returns the transport's error for it: then memory of the caller's is still
 * reached. */
int release_or_defer(dcoll_team_t *team, drail_mem_t *mem,
                     struct segment *segment);
/* Those of before: has anybody let go? */
void deferred_release_retry(dcoll_team_t *team);
/* What is left is mapped for good. */
void deferred_release_end(dcoll_team_t *team);

#endif
