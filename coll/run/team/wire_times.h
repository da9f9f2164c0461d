/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a short message between two nodes costs: measured once when a team is
 * created, by rank 0 and the first rank of the next node. All ranks use the
 * same figures.
 */
#ifndef DCOLL_WIRE_TIMES_H
#define DCOLL_WIRE_TIMES_H

#include "coll/run/team/team.h"

/* Sets team->prediction.model, if it will be used. All ranks call it, after
 * they have connected, also one that could not (@failed): the others wait for
 * it. 0, or an error: @failed, or one of the team. */
int wire_times_measure(dcoll_team_t *team, int failed);

#endif
