/* SPDX-License-Identifier: BSD-3-Clause */
/* The resident team of threads. */
#ifndef DRAIL_ENGINE_TEAM_H
#define DRAIL_ENGINE_TEAM_H

#include "dapl_rail/dapl_rail.h"

struct work;

int team_open(drail_t *t);
void team_close(drail_t *t);
/* Runs one rail's work in its thread; then waits for it. */
void team_start(drail_t *t, unsigned index, struct work *work);
void team_join(drail_t *t, unsigned index);

#endif
