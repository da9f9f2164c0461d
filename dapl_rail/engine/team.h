/* SPDX-License-Identifier: BSD-3-Clause */
/* The resident team: a thread for each rail but the first. */
#ifndef DRAIL_ENGINE_TEAM_H
#define DRAIL_ENGINE_TEAM_H

#include "dapl_rail/dapl_rail.h"

struct work;

/* Starts the threads, if they are not there. 0 or an error. */
int team_open(drail_t *t);
/* Ends and joins them. */
void team_close(drail_t *t);
/* Runs the work of one rail in its thread. */
void team_start(drail_t *t, unsigned index, struct work *work);
/* Waits until the thread has done that. */
void team_join(drail_t *t, unsigned index);

#endif
