/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How many rails each rank has left. Long blocking all-reduces of `auto`
 * between nodes of one rank are planned by them: after a rank has lost a rail,
 * and again when the rail is back (build/reduce/shares.h). All ranks must plan
 * alike, so they tell each other in an all-gather of 4 bytes before such a
 * call: before each one of COUNTED_BYTES, and less often before shorter ones,
 * for which it would take longer than it can gain.
 *
 * A rail is lost if it has links and none is up: a link that only two ranks
 * have lost counts with neither of them.
 */
#ifndef DCOLL_PORTS_LEFT_H
#define DCOLL_PORTS_LEFT_H

#include "coll/run/learn.h"

/* Has this rank's team rails whose loss matters, as far as it knows? All ranks
 * must say yes. */
bool ports_left_matter(const dcoll_team_t *team);
/* Counts a blocking call. True: before it, ports_left_renew() is due. The same
 * on all ranks. */
bool ports_left_count(dcoll_team_t *team, const dcoll_call_t *call,
                      const dcoll_args_t *args);
/* The ranks tell each other; call_choose() then follows. 0, or as `run`. */
int ports_left_renew(dcoll_team_t *team, learn_run_t *run);

#endif
