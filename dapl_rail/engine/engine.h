/* SPDX-License-Identifier: BSD-3-Clause */
/* The engines: how the rails are driven. */
#ifndef DRAIL_ENGINE_ENGINE_H
#define DRAIL_ENGINE_ENGINE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct work;

int engine_nonthreaded(drail_t *t, struct work *work);
int engine_threaded(drail_t *t, struct work *work);
/* Do all rails have threads of their own, whatever is to be done? */
bool engine_has_threads(const drail_t *t);
/* Runs the work, by threads or without. */
int engine_run(drail_t *t, struct work *work);
/* Of these rails, those that the present engine uses. */
uint32_t engine_rails(const drail_t *t, uint32_t rails);

#endif
