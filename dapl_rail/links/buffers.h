/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the slots of a rail's links: regions are cut in equal pieces, one
 * for each link. A piece is registered while a link has it. Each further region
 * has as many pieces as all before it, up to a limit: links come and go, and
 * there may be thousands. Regions stay until the rail closes.
 */
#ifndef DRAIL_LINKS_BUFFERS_H
#define DRAIL_LINKS_BUFFERS_H

#include <stddef.h>

#include <dat2/udat.h>

struct buffers;
struct rail;

/* Belongs to a link until buffers_give(). */
struct piece {
    unsigned char *start;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    struct buffers *of;
    struct piece *next; /* of the free ones */
};

/* Takes a piece and registers it; bytes must be the same in all calls for a
 * rail. The caller must not change **at. 0 or an error. */
int buffers_take(struct rail *rail, size_t bytes, struct piece **at);
/* Gives the piece back; no DTO may use it any more. If the provider does not
 * deregister it, its region is never used again and stays mapped. */
void buffers_give(struct rail *rail, struct piece *piece);
/* Frees all regions; all pieces must have been given back. */
void buffers_free(struct rail *rail);

#endif
