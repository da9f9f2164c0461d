/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of this process that may have caused a failure. */
#ifndef DRAIL_RESOURCES_H
#define DRAIL_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

/* Writes " (limits: …)" with the limits that are unusually low or used up, or
 * "". locks: the call that failed locks memory. */
void resources_text(char *text, size_t size, bool locks);

#endif
