/* SPDX-License-Identifier: BSD-3-Clause */
/* Attempts to connect to a peer, step by step, from either side. Nothing here
 * waits. */
#ifndef DRAIL_LINKS_CONNECT_ATTEMPT_H
#define DRAIL_LINKS_CONNECT_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct peer;

/* The attempt to connect to a peer, or the last one. */
struct attempt {
    bool wanted;            /* this rank, or the peer, wants a connection */
    bool held;              /* a call sees to the attempt, or to its end */
    bool absent;            /* nobody listened at the peer's address, … */
    unsigned in_vain;       /* … in so many attempts in a row; … */
    uint64_t not_before_ns; /* … the next one begins no earlier */
    uint16_t number;        /* of the active side, counted up */
    bool abandoned;         /* passive side: this rank has abandoned it */
    uint32_t rails;         /* passive side: those it is for */
};

/* Begins an attempt, if the peer is not connected. */
void attempt_want(struct peer *peer);
/* A step. 0: the peer is connected. DRAIL_EAGAIN: not yet. Any other error:
 * this attempt has failed. */
int attempt_step(struct peer *peer);
/* Gives the attempt up and rejects its requests; the next one begins anew. */
void attempt_give_up(struct peer *peer);
/* Takes the requests of peers, and a step of all attempts except those that a
 * call sees to (attempt.held). Not while several threads are at work. */
void attempts_serve(drail_t *t);
/* The peer is no longer connected. */
void attempt_forget(struct peer *peer);

#endif
