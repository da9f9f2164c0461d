/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines: one thread drives all rails, or a thread each drives one. The
 * files of this folder, in reading order:
 *
 *   work.h       what is to be done on each of several rails
 *   engine.h     the engines; which one runs the work
 *   team.h       the resident threads of engine threaded
 *   progress.h   where operations wait
 *   request.h    what a drail_req_t holds
 *   reserve.h    credits for a message to one peer
 *   teardown.h   ending links in the middle of an operation
 */
#ifndef DRAIL_ENGINE_ENGINE_H
#define DRAIL_ENGINE_ENGINE_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct work;

int engine_nonthreaded(drail_t *t, struct work *work);
int engine_threaded(drail_t *t, struct work *work);
/* Does each rail have a thread of its own for any work? */
bool engine_has_threads(const drail_t *t);
/* Runs the work with threads or without, as the work says. */
int engine_run(drail_t *t, struct work *work);
/* Returns the subset of these rails that the present engine uses. */
uint32_t engine_rails(const drail_t *t, uint32_t rails);

#endif
