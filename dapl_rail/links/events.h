/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a rail: DTOs that have completed, messages, connections. */
#ifndef DRAIL_LINKS_EVENTS_H
#define DRAIL_LINKS_EVENTS_H

#include <dat2/udat.h>

struct rail;

/* Handles the events of DTOs that are there; their number, or an error. */
int rail_poll(struct rail *rail);
/* Handles all that have been there when it was called. */
void rail_catch_up(struct rail *rail);
/* Waits at most so long for one such event and handles it: 1, 0 or an
 * error. */
int rail_sleep(struct rail *rail, unsigned us);

/* What a DTO has ended with: its name, and as 0 or DRAIL_E…. */
const char *dto_error(DAT_DTO_COMPLETION_STATUS status);
int dto_code(DAT_DTO_COMPLETION_STATUS status);

#endif
