/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of links in the middle of an operation. */
#ifndef DRAIL_ENGINE_ENDING_H
#define DRAIL_ENGINE_ENDING_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct timed_message;
struct peer;
struct req;

/*
 * Ends all links to the peer, because an operation failed with this code: none
 * goes on over another. Waits (a second at most) until nothing is under way on
 * them: what is reported failed afterwards, no DTO reads or writes any more.
 * Not while several threads are at work. Returns the code that later operations
 * end with: time runs out, and interruptions come, for the present one only.
 */
int links_end(drail_t *t, struct peer *peer, int code, const char *why);

/* Waits (a second at most) until the EPs of closed links to the peer are freed:
 * if it has not answered their requests, it hears of it then. */
void links_await_free(drail_t *t, const struct peer *peer);

/* No event on these links, should one still come, tells the request or the
 * timed message any more; either may be NULL. */
void links_forget(struct peer *peer, uint32_t rails, const struct req *req,
                  const struct timed_message *message);

#endif
