/* SPDX-License-Identifier: BSD-3-Clause */
/* First fit. Empty chunks are removed. */
#include <stdint.h>
#include <stdlib.h>

#include "coll/run/node/pool.h"

#define CHUNK_BYTES ((size_t)4 << 20)
#define PAGE_BYTES  4096u
#define SMALL_BYTES 128u /* two cache lines: they are fetched in pairs */

struct chunk {
    struct chunk *next;
    unsigned char *base;
    size_t bytes;
    drail_mem_t *mem;
    struct piece *pieces;
};

static unsigned char *align(unsigned char *at, size_t bytes)
{
    size_t unit = bytes < PAGE_BYTES ? SMALL_BYTES : PAGE_BYTES;
    return (unsigned char *)(((uintptr_t)at + unit - 1) / unit * unit);
}

/* Finds the first gap of a chunk that is large enough, and the link where its
 * piece belongs. NULL: there is none. */
static unsigned char *find_gap(struct chunk *c, size_t bytes,
                               struct piece ***link)
{
    unsigned char *from = c->base;
    for (*link = &c->pieces;; *link = &(**link)->next) {
        const struct piece *next = **link;
        unsigned char *at = align(from, bytes);
        unsigned char *end = next ? next->address : c->base + c->bytes;
        if (at <= end && bytes <= (size_t)(end - at))
            return at;
        if (!next)
            return NULL;
        from = next->address + next->bytes;
    }
}

static int chunk_add(struct pool *pool, size_t bytes)
{
    void *base;
    struct chunk *c = calloc(1, sizeof *c);
    if (!c)
        return DRAIL_ENOMEM;
    c->bytes = bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES;
    int rc = drail_mem_alloc(pool->rail, c->bytes, DRAIL_ACCESS_REMOTE_WRITE,
                             &base, &c->mem);
    if (rc) {
        free(c);
        return rc;
    }
    c->base = base;
    c->next = pool->chunks;
    pool->chunks = c;
    return 0;
}

static void piece_remove(struct piece **link)
{
    struct piece *p = *link;
    *link = p->next;
    drail_mem_release(p->mem);
    free(p);
}

/* Returns the chunk's memory. */
static drail_mem_t *chunk_remove(struct pool *pool, struct chunk *c)
{
    struct chunk **link = &pool->chunks;
    while (*link != c)
        link = &(*link)->next;
    *link = c->next;
    while (c->pieces)
        piece_remove(&c->pieces);
    drail_mem_t *mem = c->mem;
    free(c);
    return mem;
}

int pool_take(struct pool *pool, size_t bytes, struct piece **out)
{
    struct piece **link = NULL;
    unsigned char *at = NULL;
    struct chunk *c = pool->chunks;
    for (; c && !(at = find_gap(c, bytes, &link)); c = c->next)
        ;
    int rc = at ? 0 : chunk_add(pool, bytes);
    if (rc)
        return rc;
    if (!at) {
        c = pool->chunks;
        at = find_gap(c, bytes, &link);
    }
    struct piece *p = calloc(1, sizeof *p);
    if (!p)
        return DRAIL_ENOMEM;
    rc = drail_mem_view(c->mem, at, bytes, &p->mem);
    if (rc) {
        free(p);
        return rc;
    }
    p->next = *link;
    p->chunk = c;
    p->address = at;
    p->bytes = bytes;
    *link = p;
    *out = p;
    return 0;
}

drail_mem_t *pool_give(struct pool *pool, struct piece *piece)
{
    if (!piece)
        return NULL;
    struct chunk *c = piece->chunk;
    struct piece **link = &c->pieces;
    while (*link != piece)
        link = &(*link)->next;
    piece_remove(link);
    bool spare = c->bytes == CHUNK_BYTES && c == pool->chunks && !c->next;
    return c->pieces || spare ? NULL : chunk_remove(pool, c);
}

drail_mem_t *pool_shrink(struct pool *pool)
{
    return pool->chunks ? chunk_remove(pool, pool->chunks) : NULL;
}
