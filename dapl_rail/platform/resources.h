/* SPDX-License-Identifier: BSD-3-Clause */
/* Limits of this process, which a failure for want of something comes from. */
#ifndef DRAIL_RESOURCES_H
#define DRAIL_RESOURCES_H

#include <stdbool.h>
#include <stddef.h>

/* Writes " (limits: …)" with those that are less than usual or used up, or "".
 * @p locks: does what has failed lock memory? */
void resources_text(char *text, size_t size, bool locks);

#endif
