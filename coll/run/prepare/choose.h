/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_CHOOSE_H
#define DCOLL_CHOOSE_H

#include <string.h>

#include "coll/dcoll.h"

/* May the team choose the algorithm? */
static inline bool choice_is_auto(const char *algorithm)
{
    return !algorithm || !strcmp(algorithm, "auto");
}

/* Checks the call, and chooses its arguments and its algorithm. one_shot: as in
 * dcoll_args_t. 0, or an error of the team. */
int call_choose(dcoll_team_t *team, const dcoll_call_t *call, bool one_shot,
                dcoll_args_t *args, const dcoll_algorithm_t **algorithm);

#endif
