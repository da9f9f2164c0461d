/* SPDX-License-Identifier: BSD-3-Clause */
/* Attempts to connect, step by step, whoever wants a connection: nothing here
 * waits. */
#ifndef DRAIL_LINKS_CONNECT_ATTEMPT_H
#define DRAIL_LINKS_CONNECT_ATTEMPT_H

#include <stdbool.h>

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Let there be a connection to the peer, if there is none. */
void attempt_want(struct peer *peer);
/* A step: 0: it is there. DRAIL_EAGAIN: not yet. Else it can't be made so. */
int attempt_step(struct peer *peer);
/* The attempt is given up; the next one begins anew. What waits of it is
 * rejected. */
void attempt_give_up(struct peer *peer);
/* A step of all attempts that no call sees to (peer.held), and takes the
 * requests of peers. Not while several threads are at work. */
void attempts_serve(drail_t *t);
/* The connection is gone. */
void attempt_forget(struct peer *peer);

#endif
