/* SPDX-License-Identifier: BSD-3-Clause */
/* Which link has an EP: a hash table of a rail. Events name EPs, and a rail may
 * have thousands of them. */
#ifndef DRAIL_LINKS_EP_TABLE_H
#define DRAIL_LINKS_EP_TABLE_H

#include <dat2/udat.h>

struct link;
struct rail;

/* Enters the link by its EP. 0 or DRAIL_ENOMEM. */
int ep_table_add(struct link *link);
/* Call it before the EP is freed. */
void ep_table_remove(struct link *link);
/* The link that has this EP, or NULL. */
struct link *ep_table_find(const struct rail *rail, DAT_EP_HANDLE ep);
void ep_table_free(struct rail *rail);

#endif
