/* SPDX-License-Identifier: BSD-3-Clause */
/* The present policy: how a message is cut. */
#ifndef DRAIL_STRIPE_WEIGHTS_H
#define DRAIL_STRIPE_WEIGHTS_H

#include "dapl_rail/dapl_rail.h"

struct rail;

/* Cuts a message by the present policy. */
int cut(drail_t *t, size_t bytes, drail_chunk_t chunks[DRAIL_MAX_RAILS]);
/* A rail has moved its part of a striped message in this time, after those
 * before. */
void weights_measure(struct rail *rail, unsigned slot, uint64_t bytes,
                     uint64_t ns);
/* Weights of the rails for a long message by the present policy. */
void weights_now(const drail_t *t, double weights[DRAIL_MAX_RAILS]);

#endif
