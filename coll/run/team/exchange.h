/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a new team tell each other. */
#ifndef DCOLL_TEAM_EXCHANGE_H
#define DCOLL_TEAM_EXCHANGE_H

#include "coll/run/team/cores.h"
#include "coll/run/team/team.h"

/* Memory for all-gathers whose results the team does not keep, allocated in
 * advance: a rank without memory must still be able to tell the others. */
struct team_gather {
    drail_gathered_t *cores, *findings;
};

/* Also allocates team->members and team->ledger_keys. 0 or DRAIL_ENOMEM;
 * team_gather_free() in either case. */
int team_gather_new(dcoll_team_t *team, struct team_gather *gather);
void team_gather_free(struct team_gather *gather);

/* All ranks call it. Exchanges members, ledgers, cores and access rights; makes
 * tables and limits equal on all ranks; attaches to the node's ledgers. 0 or
 * DRAIL_E…. */
int team_exchange(dcoll_team_t *team, const struct team_gather *gather);

#endif
