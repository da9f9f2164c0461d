/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The passive side: connection requests of lower ranks, and solicitations of
 * higher ones. Nothing here waits.
 *
 * The active side numbers its attempts, because the requests of one attempt
 * come in any order, and late: all links of a connection are of the same
 * attempt.
 */
#ifndef DRAIL_LINKS_CONNECT_REQUESTS_H
#define DRAIL_LINKS_CONNECT_REQUESTS_H

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Takes all requests that have come and keeps them for the next step of an
 * attempt. If a connected peer asks anew, it has given the connection up: its
 * links go down. Not while several threads are at work. */
void requests_take(drail_t *t);
/* Accepts the peer's requests that are kept and still valid. */
void requests_resume(struct peer *peer);
/* Are any requests of the peer kept, until an earlier link is gone? */
bool requests_waiting(const struct peer *peer);
/* This rank gives the peer's present attempt up: rejects its requests, those
 * kept and those to come. */
void requests_end(struct peer *peer);
/* Rejects the peer's requests that are kept. */
void requests_reject(struct peer *peer);

#endif
