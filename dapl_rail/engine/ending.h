/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of links in the middle of an operation. */
#ifndef DRAIL_ENGINE_ENDING_H
#define DRAIL_ENGINE_ENDING_H

#include <stdint.h>

#include "dapl_rail/dapl_rail.h"

struct peer;

/* Ends the links to the peer over these rails, and waits (a second at most)
 * until nothing is under way on them: what is reported failed afterwards, no
 * DTO reads or writes any more. Not while several threads are at work. */
void links_end(drail_t *t, struct peer *peer, uint32_t rails, int code,
               const char *why);

#endif
