/* SPDX-License-Identifier: BSD-3-Clause */
/* What ranks tell one another when they open their transports. */
#ifndef DRAIL_CARDS_H
#define DRAIL_CARDS_H

#include "dapl_rail/dapl_rail.h"

/* Room for what all ranks tell; NULL: there is no memory. */
drail_gathered_t *cards_room(drail_job_t *job);
/*
 * Tells all others about this rank's rails, or with what error they failed,
 * and takes what the others tell: puts our rails into the order of rank 0's,
 * by fabric, and finds out over which of them each peer is reached. Takes part
 * also after an error, for the others must hear of it, and returns it. No rank
 * has more rails than `cards`. What
 * does not fit together is the same error, in the same words, in all ranks.
 */
int cards_exchange(drail_t *t, drail_gathered_t *room, unsigned cards,
                   int failed, drail_error_t *err);
/* Frees what is known of the ranks. */
void cards_forget(drail_t *t);

#endif
