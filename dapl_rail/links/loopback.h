/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rail's connection to itself, for atomics of this rank on its own memory: if
 * the adapter executes peers' atomics, it must execute these, too, because its
 * atomics and the processor's are not atomic with each other. It has EVDs of
 * its own. One atomic is under way at a time.
 */
#ifndef DRAIL_LINKS_LOOPBACK_H
#define DRAIL_LINKS_LOOPBACK_H

#include <stdint.h>

struct rail;
struct wire_atomic;

/* Begins to connect, if rail->loopback is NULL. 0 or an error. */
int loopback_open(struct rail *rail);
/* A step, without waiting. 0: it is up. DRAIL_EAGAIN: not yet; or an error. */
int loopback_connect(struct rail *rail);
/* Posts the atomic; address and key are this rank's. 0 or an error. */
int loopback_post(struct rail *rail, const struct wire_atomic *ask);
/* Waits up to so many microseconds for its completion. 0, DRAIL_EAGAIN or an
 * error. */
int loopback_wait(struct rail *rail, unsigned us, uint64_t *old);
/* Closes the connection if there is one, also if it is not up. */
void loopback_close(struct rail *rail);

#endif
