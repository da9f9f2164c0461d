/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of lower ranks to connect: the passive side. Nothing here waits. */
#ifndef DRAIL_LINKS_REQUESTS_H
#define DRAIL_LINKS_REQUESTS_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Answers requests of any peer that have come. One that is connected to us has
 * given that up: its links go down, and what it asks waits for our next
 * connect. */
int requests_serve(drail_t *t);
/* Answers what has waited, as the peer is not connected any more. */
int requests_resume(struct peer *peer);
/* We give up connecting: what else comes of the peer's present attempt is
 * rejected. */
void requests_end(struct peer *peer);
/* Rejects what waits. */
void requests_reject(struct peer *peer);

#endif
