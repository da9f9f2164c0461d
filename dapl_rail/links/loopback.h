/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rail's connection to itself: for atomics on memory of this rank where the
 * adapter does them, which know nothing of the processor's. It has EVDs of its
 * own. One atomic is under way at a time.
 */
#ifndef DRAIL_LINKS_LOOPBACK_H
#define DRAIL_LINKS_LOOPBACK_H

#include <stdint.h>

struct rail;
struct wire_atomic;

/* Begins to connect, if rail->loopback is not there yet. 0 or an error. */
int loopback_open(struct rail *rail);
/* A step towards it, without waiting: 0 when it is up, DRAIL_EAGAIN or an
 * error. */
int loopback_connect(struct rail *rail);
/* Of an address and a key of this rank's. 0 or an error. */
int loopback_post(struct rail *rail, const struct wire_atomic *ask);
/* Waits up to so long for its end. 0, DRAIL_EAGAIN or an error. */
int loopback_wait(struct rail *rail, unsigned us, uint64_t *old);
/* Also when there is none, or it is not up. What is under way does no more. */
void loopback_close(struct rail *rail);

#endif
