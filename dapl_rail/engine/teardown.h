/* SPDX-License-Identifier: BSD-3-Clause */
/* Ending links in the middle of an operation. */
#ifndef DRAIL_ENGINE_TEARDOWN_H
#define DRAIL_ENGINE_TEARDOWN_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct timed_message;
struct peer;
struct req;

/*
 * Ends all links to the peer, because an operation failed with this code. Waits
 * until no request is under way on them, a second at most: then nothing reads
 * or writes the memory of operations that are reported as failed. Not while
 * several threads are at work. Returns the error of later operations:
 * DRAIL_EPEER if the present one timed out or was interrupted, else the code.
 */
int links_end(drail_t *t, struct peer *peer, int code, const char *why);

/* Waits until the EPs of closed links to the peer are freed, a second at most.
 * If the peer has not answered their requests, it learns of it then. */
void links_await_free(drail_t *t, const struct peer *peer);

/* From now on no event on these links refers to the request or the timed
 * message; either may be NULL. */
void links_forget(struct peer *peer, uint32_t rails, const struct req *req,
                  const struct timed_message *message);

#endif
