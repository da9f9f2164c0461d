/* SPDX-License-Identifier: BSD-3-Clause */
/* Schedules on real bytes, with everything that may happen in any order
 * happening in a random one: what the verifier accepts must survive it. */
#ifndef TESTS_RANDOM_PLAY_H
#define TESTS_RANDOM_PLAY_H

#include "coll/schedule.h"

/** Plays @p starts starts. @return false: a rank found wrong bytes in RECV, or
 *  all were stuck. Schedules must be within their bounds. */
bool random_play(const dcoll_program_t *program, unsigned starts,
                 unsigned seed);

#endif
