/* SPDX-License-Identifier: BSD-3-Clause */
/* Whose EP is it? Events name EPs; a rail may have thousands. */
#ifndef DRAIL_LINKS_EP_TABLE_H
#define DRAIL_LINKS_EP_TABLE_H

#include <dat2/udat.h>

struct link;
struct rail;

/* The link has got this EP, … 0 or DRAIL_ENOMEM. */
int ends_enter(struct link *link);
/* … and is to lose it. */
void ends_leave(struct link *link);
/* The link that has it, or NULL. */
struct link *ends_find(const struct rail *rail, DAT_EP_HANDLE ep);
void ends_free(struct rail *rail);

#endif
