/* SPDX-License-Identifier: BSD-3-Clause */
/* Cards: the rails of a rank and their addresses, which all ranks exchange in
 * drail_open(). */
#ifndef DRAIL_CARDS_H
#define DRAIL_CARDS_H

#include "dapl_rail/dapl_rail.h"

/* Memory for the cards of all ranks; NULL: out of memory. */
drail_gathered_t *cards_room(drail_job_t *job);
/*
 * Exchanges the cards of all ranks. Then this rank's rails are in the order of
 * rank 0's, matched by fabric, and it is known which of them reach each peer. A
 * rank whose rails failed takes part with its error, so that the others learn
 * of it, and gets this error back. If the ranks do not fit together, all return
 * the same error with the same sentence. Takes over room.
 *
 * cards: the most rails that any rank has. failed: 0, or this rank's error.
 */
int cards_exchange(drail_t *t, drail_gathered_t *room, unsigned cards,
                   int failed, drail_error_t *err);
/* Frees the roster. */
void cards_forget(drail_t *t);

#endif
