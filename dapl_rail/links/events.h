/* SPDX-License-Identifier: BSD-3-Clause */
/* The events of a rail's DTOs: completed requests, and messages. */
#ifndef DRAIL_LINKS_EVENTS_H
#define DRAIL_LINKS_EVENTS_H

#include <dat2/udat.h>

struct rail;

/* Handles the events that are there, but not too many at once. Returns their
 * number, or an error. */
int rail_poll(struct rail *rail);
/* Handles one event: 1, 0: there is none, or an error. */
int rail_poll_one(struct rail *rail);
/* Handles all events that are there when it is called. */
void rail_catch_up(struct rail *rail);
/* Waits up to so many microseconds for one event and handles it: 1, 0: none has
 * come, or an error. */
int rail_sleep(struct rail *rail, unsigned us);

/* The status of a DTO: its name, and as 0 or DRAIL_E…. */
const char *dto_error(DAT_DTO_COMPLETION_STATUS status);
int dto_code(DAT_DTO_COMPLETION_STATUS status);

#endif
