/* SPDX-License-Identifier: BSD-3-Clause */
/* Wire-up: in drail_open() all ranks exchange cards, which name the rails of a
 * rank and their addresses. */
#ifndef DRAIL_WIREUP_H
#define DRAIL_WIREUP_H

#include "dapl_rail/dapl_rail.h"

/* Memory for the cards of all ranks; NULL: out of memory. */
drail_gathered_t *wireup_room(drail_job_t *job);
/*
 * Exchanges the cards of all ranks. Then this rank's rails are in the order of
 * rank 0's, matched by fabric, and it is known which of them reach each peer. A
 * rank whose rails failed takes part with its error, so that the others learn
 * of it, and gets this error back. If the ranks do not fit together, all return
 * the same error with the same sentence. Takes over room.
 *
 * cards: the most rails that any rank has. failed: 0, or this rank's error.
 */
int wireup_exchange(drail_t *t, drail_gathered_t *room, unsigned cards,
                    int failed, drail_error_t *err);
/* Frees the roster. */
void wireup_forget(drail_t *t);

#endif
