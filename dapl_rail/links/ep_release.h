/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * EPs from which all has come back, while the end of their connection is still
 * to be told: a provider may tell it only when the peer has answered, and to
 * free the EP would wait for that. libdaplofa's thread may be about to tell it,
 * and crashes when the EP is freed meanwhile.
 */
#ifndef DRAIL_LINKS_EP_RELEASE_H
#define DRAIL_LINKS_EP_RELEASE_H

#include <stdbool.h>

#include <dat2/udat.h>

struct rail;

/* Frees the EP: at once, or when its connection has ended. */
void parting(struct rail *rail, DAT_EP_HANDLE ep);
/* The connection of this EP has ended. Was it one of these? Then it is free. */
bool parting_over(struct rail *rail, DAT_EP_HANDLE ep);
/* Frees all of them. */
void partings_end(struct rail *rail);

#endif
