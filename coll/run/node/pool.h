/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registered memory of a team's requests. They come and go with the sizes of
 * calls, so they share chunks: a file, a registration per rail and the peers'
 * mappings exist once for many.
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

/* 0, or the transport's error. Peers may write into it. Contents: any. */
int pool_take(struct pool *pool, size_t bytes, struct piece **out);
/* Nobody may write into it any more. Accepts NULL. */
void pool_give(struct pool *pool, struct piece *piece);
/* With the pieces that have not been given back, as they can't be touched. */
void pool_free(struct pool *pool);

#endif
