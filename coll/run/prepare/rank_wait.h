/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for other ranks before a call, outside of any request. Meanwhile the
 * rails and the requests under way make progress. */
#ifndef DCOLL_RANK_WAIT_H
#define DCOLL_RANK_WAIT_H

#include "coll/run/team/team.h"
#include "dapl_rail/platform/deadline.h"
#include "dapl_rail/platform/spin.h"

struct rank_wait {
    dcoll_team_t *team;
    struct deadline deadline;
    uint64_t moved; /* latest known ledger_moved() of the awaited rank */
    struct spin spin;
};

void rank_wait_begin(struct rank_wait *w, dcoll_team_t *team);
/* Publishes the awaited rank's standing in this rank's ledger, for ranks that
 * wait for this one. If the awaited rank, or a rank that it waits for, has made
 * a call, or bytes have moved, the timeout begins anew. */
void rank_wait_follow(struct rank_wait *w, const struct standing *s);
/* Makes progress. 0, or an error of the team. */
int rank_wait_progress(struct rank_wait *w);
/* Has nothing happened for the transport's timeout? */
bool rank_wait_is_over(const struct rank_wait *w);
/* Between two looks: spins, later sleeps. */
void rank_wait_pause(struct rank_wait *w);

#endif
