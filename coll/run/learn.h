/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocking calls of `auto` between nodes that wires join, and all-gathers
 * and all-to-alls within a node whose ranks may read each other's memory:
 * contests (select/contest.h) find the fastest algorithm. In a contest the
 * ranks begin each call together, and time it; then they agree on the slowest
 * rank's times by an all-reduce. Only blocking calls learn: all ranks make them
 * at the same place in their order of calls. Within a node non-blocking calls
 * use what they have learned.
 */
#ifndef DCOLL_LEARN_H
#define DCOLL_LEARN_H

#include "coll/run/team/team.h"

/* Makes a call with its algorithm. @remember: later calls with the same buffers
 * may start the same request at once. */
typedef int learn_run_t(dcoll_team_t *team, const dcoll_call_t *call,
                        const dcoll_args_t *args,
                        const dcoll_algorithm_t *algorithm, bool remember);

/* Makes a call of the library's own, beside the caller's. */
int learn_choose_and_run(dcoll_team_t *team, const dcoll_call_t *call,
                         learn_run_t *run);
/* No rank had the memory to prepare a request: the team goes on. */
bool learn_all_lack_memory(const dcoll_team_t *team, int rc);
/* Makes the call, with this algorithm or one that is learned or tried. 0, or as
 * `run`. */
int learn_run(dcoll_team_t *team, const dcoll_call_t *call,
              const dcoll_args_t *args, const dcoll_algorithm_t *algorithm,
              learn_run_t *run);

/* As call_choose(), for a non-blocking call: it takes the algorithm that
 * blocking ones have learned, unless the requests of the present one are
 * prepared: equal calls shall not wait for ranks to prepare others. */
int learn_choose(dcoll_team_t *team, const dcoll_call_t *call,
                 dcoll_args_t *args, const dcoll_algorithm_t **algorithm);

#endif
