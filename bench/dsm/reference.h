/* SPDX-License-Identifier: BSD-3-Clause */
/* Plain transfers over the same rails, which shared memory is compared with. */
#ifndef BENCH_DSM_REFERENCE_H
#define BENCH_DSM_REFERENCE_H

#include "bed.h"

/**
 * A ping-pong of 8 bytes between home and client, both of which call it: half
 * of a round trip. Puts that the target polls its memory for, or, of rails with
 * a link model, which does not hold bytes back, messages.
 * @param us set on the client.
 */
int reference_pingpong(dsm_bed_t *bed, double *us);

/** The client reads so much of home's source to its target. */
int reference_get(dsm_bed_t *bed, uint64_t offset, uint64_t bytes);

#endif
