/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for the messages of a rail's links: equal pieces of regions, of which
 * the next has as many as there are, each registered by itself while a link has
 * it. Links come and go, and there may be thousands of them. Regions stay until
 * the rail closes.
 */
#ifndef DRAIL_LINKS_BUFFERS_H
#define DRAIL_LINKS_BUFFERS_H

#include <stddef.h>

#include <dat2/udat.h>

struct buffers;
struct rail;

/* A link's, until buffers_give(). */
struct piece {
    unsigned char *start;
    DAT_LMR_HANDLE lmr;
    DAT_LMR_CONTEXT lmr_context;
    struct buffers *of;
    struct piece *next; /* free ones */
};

/* All pieces of a rail have the same length. *at is not to be changed. 0 or an
 * error. */
int buffers_take(struct rail *rail, size_t bytes, struct piece **at);
/* Nothing is posted there any more. What the provider does not let go of, is
 * nobody's from now on, and stays mapped. */
void buffers_give(struct rail *rail, struct piece *piece);
/* None is taken any more. */
void buffers_free(struct rail *rail);

#endif
