/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DCOLL_CHOOSE_H
#define DCOLL_CHOOSE_H

#include "coll/dcoll.h"

/* Checks the call, and decides how it is done. */
int call_choose(dcoll_team_t *team, const dcoll_call_t *call,
                dcoll_args_t *args, const dcoll_algorithm_t **algorithm);

#endif
