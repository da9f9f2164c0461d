/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registered memory of a team's requests (TEMP and windows). Requests come
 * and go, so they share chunks: many requests need only one file, one
 * registration per rail and one mapping in each peer.
 */
#ifndef DCOLL_POOL_H
#define DCOLL_POOL_H

#include "dapl_rail/dapl_rail.h"

struct chunk;

struct piece {
    struct piece *next; /* in its chunk, by address */
    struct chunk *chunk;
    unsigned char *address;
    size_t bytes;
    drail_mem_t *mem;
};

struct pool {
    drail_t *rail;
    struct chunk *chunks;
};

/* Takes memory that peers may write into; its contents are undefined. 0, or the
 * transport's error. */
int pool_take(struct pool *pool, size_t bytes, struct piece **out);
/* Gives it back; no peer may write into it any more. NULL: does nothing.
 * Returns memory that the caller must release, or NULL. */
drail_mem_t *pool_give(struct pool *pool, struct piece *piece);
/* Removes a chunk, also with pieces that have not been given back. Returns its
 * memory, which the caller must release; NULL: there is none left. */
drail_mem_t *pool_shrink(struct pool *pool);

#endif
