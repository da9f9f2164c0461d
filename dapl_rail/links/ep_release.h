/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frees EPs. A provider may report the end of a connection only when the peer
 * has answered, and freeing the EP would wait for that. libdaplofa's thread may
 * be about to report it, and crashes if the EP is freed meanwhile. So an EP
 * whose disconnect is pending is kept in a list of its rail until its event
 * comes.
 */
#ifndef DRAIL_LINKS_EP_RELEASE_H
#define DRAIL_LINKS_EP_RELEASE_H

#include <stdbool.h>

#include <dat2/udat.h>

struct rail;

/* Frees the EP, at once or when its connection has ended. All that was posted
 * on it must have come back. */
void ep_release(struct rail *rail, DAT_EP_HANDLE ep);
/* The connection of this EP has ended: frees it if it is in the list. False: it
 * is not. */
bool ep_release_ended(struct rail *rail, DAT_EP_HANDLE ep);
/* Frees all EPs of the list. */
void ep_release_all(struct rail *rail);

#endif
