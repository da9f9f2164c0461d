/* SPDX-License-Identifier: BSD-3-Clause */
/* What a connection that is being made still lacks, in words. */
#ifndef DRAIL_LINKS_CONNECT_UNCONNECTED_H
#define DRAIL_LINKS_CONNECT_UNCONNECTED_H

#include <stddef.h>

struct peer;

/* By rail, the step of its handshake that has not come; the text is cut to
 * size, which includes the zero byte. */
void missing_tell(const struct peer *peer, char *text, size_t size);

#endif
