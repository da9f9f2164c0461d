/* SPDX-License-Identifier: BSD-3-Clause */
/* The tuners of a transport: one for each size, verb, and combination of
 * settings. A tuner begins when its first message starts. */
#ifndef DRAIL_STRIPE_TUNERS_H
#define DRAIL_STRIPE_TUNERS_H

#include <stdbool.h>
#include <stddef.h>

#include "dapl_rail/dapl_rail.h"

struct tuner;

/* Sizes of one class (powers of two) share a tuner. */
unsigned size_class(size_t bytes);
/* The tuner for this size, with the present settings; reads: RDMA reads. */
struct tuner *tuner_of(const drail_t *t, bool reads, unsigned size);
/* A message that may be striped starts. A new tuner begins with the champion of
 * a size nearby. */
void tuner_used(drail_t *t, bool reads, unsigned size);
/* The size of the last message that could be striped. */
unsigned size_latest(const drail_t *t);
/* The slot of a rail's rates for this size, with or without threads. */
unsigned rate_slot(const drail_t *t, bool threads, unsigned size);
/* Do tuners choose rails, with the present settings? */
bool tuners_apply(const drail_t *t);

/* t->measured is known, or another: all tuners begin anew. */
void tuners_begin(drail_t *t);
/* The weights of policy weighted have changed: its tuners begin anew. */
void tuners_weights_changed(drail_t *t);
/* Engine auto uses cfg.team: if it is another than before, its tuners begin
 * anew. */
void tuners_team_changed(drail_t *t);
/* Engine auto can't have its team: its tuners begin anew without threads. */
void tuners_without_threads(drail_t *t);

/* Is each of these rails polled (TCP)? Then it is a wire of its own, and rails
 * together carry the sum of what each carries alone. */
bool rails_are_wires(const drail_t *t, uint32_t rails);

#endif
