/* SPDX-License-Identifier: BSD-3-Clause */
/* Agreement on bounds, for calls that have none, and on counts. */
#ifndef DCOLL_IRREGULAR_AGREE_H
#define DCOLL_IRREGULAR_AGREE_H

#include "coll/run/irregular/elements.h"
#include "coll/run/team/team.h"

/* All ranks call it, and wait for each other. Sets the bounds in traffic, equal
 * on all ranks; or returns, on all ranks, the error of one of them. */
int irregular_agree(dcoll_team_t *team, const struct elements *e,
                    dcoll_traffic_t *traffic);

/* Then, labelled: gathers the counts of all ranks (dcoll_traffic_t.counts). The
 * caller frees them, after an error, too. */
int irregular_gather_counts(dcoll_team_t *team, const struct elements *e,
                            uint64_t **counts);

#endif
