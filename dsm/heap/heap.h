/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared heap. Each rank allocates from a part of its own. The book-keeping
 * of that part is in private memory (spans.h), so an allocation neither faults
 * nor waits for other ranks. A block that another rank frees goes back to its
 * owner through a ring in the owner's memory (returns.h).
 */
#ifndef DSM_HEAP_HEAP_H
#define DSM_HEAP_HEAP_H

#include "dsm/base/space.h"

/* Parts are divided into spans. A span has small blocks of one size, or belongs
 * to one large block. */
enum { SPAN_SHIFT = 16, SIZES = 40, SPAN_NONE = UINT32_MAX };
#define SPAN_BYTES ((size_t)1 << SPAN_SHIFT)

struct span {
    uint64_t *taken;     /* small blocks: a bit each */
    uint32_t run;        /* a large block begins: its spans */
    uint32_t next, prev; /* spans of one size that have free blocks */
    uint16_t free;       /* small blocks that are free */
    uint8_t size;        /* index of the small blocks' size */
    bool busy;
};

/* Blocks of another rank that this one has freed. */
struct freed {
    char **block;
    size_t count, room;
    size_t ready;           /* these may be handed over after the next flush */
    uint64_t sent, arrived; /* entries put to the ring; known to be taken */
};

struct heap {
    char *start;
    size_t spans;        /* of all parts */
    size_t first, count; /* of this rank's part */
    uint32_t lowest;     /* no span before it is free */
    uint32_t fresh;      /* spans from here on were never used: they are zero */
    struct span *span;
    uint32_t partial[SIZES]; /* spans with free blocks; SPAN_NONE: none */
    struct freed *freed;     /* one for each rank */
    _Atomic size_t waiting;  /* blocks in all of them */

    /* registered: */
    drail_mem_t *mem;
    drail_key_t *keys;
    uint64_t *bytes; /* usable bytes of the blocks of a span of this part */
    size_t bytes_offset, rings_offset;
    struct ring *ring;      /* one for each rank that returns blocks */
    struct returned *stage; /* entries on their way */
    uint64_t *tail;         /* a ring's new tail, on its way */
    uint64_t *answer;       /* read from another rank */

    pthread_mutex_t mutex; /* taken after ddsm.mutex, if both are */
};

/* The rank whose part has the span. */
unsigned heap_owner(const ddsm_t *d, size_t span);
/* The first span of a rank's part; of rank ddsm.size: the end. */
size_t heap_part(const ddsm_t *d, size_t spans, unsigned rank);

static inline size_t heap_span_of(const struct heap *h, const void *block)
{
    return (size_t)((const char *)block - h->start) >> SPAN_SHIFT;
}

#endif
