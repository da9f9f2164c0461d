/* SPDX-License-Identifier: BSD-3-Clause */
/* Why a connection is not complete, in words. */
#ifndef DRAIL_LINKS_CONNECT_UNCONNECTED_H
#define DRAIL_LINKS_CONNECT_UNCONNECTED_H

#include <stddef.h>

struct peer;

/* Writes which step of the handshake is missing on which rails. The text is cut
 * to size, which includes the zero byte. */
void unconnected_text(const struct peer *peer, char *text, size_t size);

#endif
