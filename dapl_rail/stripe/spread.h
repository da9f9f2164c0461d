/* SPDX-License-Identifier: BSD-3-Clause */
/* How a message's parts are spread over the EPs of their rails. */
#ifndef DRAIL_STRIPE_SPREAD_H
#define DRAIL_STRIPE_SPREAD_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

/* The EPs of every rail that carry a message: all of them if it is striped, of
 * a shorter one the next in turn. */
uint32_t spread_over(const drail_t *t, size_t bytes,
                     const drail_chunk_t *chunks, int n, unsigned *turn);
/* What of a rail's chunk this one of these EPs carries. */
drail_chunk_t spread_part(const drail_t *t, const drail_chunk_t *chunk,
                          uint32_t eps, unsigned ep);

#endif
