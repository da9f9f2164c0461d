/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of lower ranks to connect: the passive side; and the knocks of
 * higher ones. Nothing here waits. */
#ifndef DRAIL_LINKS_CONNECT_REQUESTS_H
#define DRAIL_LINKS_CONNECT_REQUESTS_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Takes the requests of all peers that have come: they wait for the next step
 * of an attempt. A peer that is connected to us has given that up: its links go
 * down. Not while several threads are at work. */
void requests_note(drail_t *t);
/* Accepts what waits of a peer and is still what has been noted. */
void requests_resume(struct peer *peer);
/* Are there requests that wait, until a link of before is gone? */
bool requests_wait(const struct peer *peer);
/* We give up connecting: what waits and what else comes of the peer's present
 * attempt is rejected. */
void requests_end(struct peer *peer);
/* Rejects what waits. */
void requests_reject(struct peer *peer);

#endif
