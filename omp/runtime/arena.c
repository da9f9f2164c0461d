/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/arena.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

/* Before a block. */
struct header {
    uint64_t bytes;   /* of the block */
    uint32_t class;   /* of its place */
    uint32_t padding; /* from the place's start to the header */
};

enum {
    CLASSES = 4 * 38,   /* up to 2^42 bytes, in steps of a quarter */
    LEAST_SHIFT = 4,    /* the least has 64 bytes */
    PAGE = 4096,
    PAGE_FROM = 64 << 10, /* blocks from that size begin with a page */
};

static struct arena {
    pthread_mutex_t mutex;
    char *next, *end;
    struct freed { /* places that can be used again */
        void **place;
        size_t count, room;
    } freed[CLASSES];
} arena = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static size_t class_bytes(unsigned class)
{
    return (size_t)(4 + class % 4) << (class / 4 + LEAST_SHIFT);
}

static unsigned class_of(size_t bytes)
{
    if (bytes <= class_bytes(0))
        return 0;
    const unsigned shift = (unsigned)(61 - __builtin_clzl(bytes - 1));
    return (shift - LEAST_SHIFT) * 4 + (unsigned)((bytes - 1) >> shift) - 3;
}

static const struct header *header_of(const void *p)
{
    return (const struct header *)p - 1;
}

void arena_use(void *start, size_t bytes, int forget)
{
    pthread_mutex_lock(&arena.mutex);
    arena.next = start;
    arena.end = arena.next + bytes;
    for (unsigned i = 0; forget && i < CLASSES; i++)
        arena.freed[i].count = 0;
    pthread_mutex_unlock(&arena.mutex);
}

/* Memory for a place of this class. */
static char *take(unsigned class)
{
    struct freed *f = &arena.freed[class];
    char *place = NULL;
    pthread_mutex_lock(&arena.mutex);
    if (f->count) {
        place = f->place[--f->count];
    } else if ((size_t)(arena.end - arena.next) >= class_bytes(class)) {
        place = arena.next;
        arena.next += class_bytes(class);
    }
    pthread_mutex_unlock(&arena.mutex);
    return place;
}

void *arena_malloc(size_t alignment, size_t bytes)
{
    if (bytes >= PAGE_FROM && alignment < PAGE)
        alignment = PAGE;
    if (bytes > class_bytes(CLASSES - 1) / 2 || alignment > UINT32_MAX / 2)
        return NULL;
    const unsigned class = class_of(bytes + sizeof(struct header) + alignment);
    char *place = take(class);
    if (!place)
        return NULL;
    char *p = (char *)(((uintptr_t)place + sizeof(struct header) + alignment -
                        1) &
                       -(uintptr_t)alignment);
    struct header *header = (struct header *)p - 1;
    *header = (struct header){
        .bytes = bytes,
        .class = class,
        .padding = (uint32_t)((char *)header - place),
    };
    return p;
}

void arena_free(void *p)
{
    const struct header *header = header_of(p);
    /* the header may be fetched from another rank: not with the mutex held */
    struct freed *f = &arena.freed[header->class];
    void *place = (char *)header - header->padding;
    pthread_mutex_lock(&arena.mutex);
    if (f->count == f->room) {
        const size_t room = f->room ? 2 * f->room : 64;
        void **more = realloc(f->place, room * sizeof *more);
        if (more) {
            f->place = more;
            f->room = room;
        }
    }
    if (f->count < f->room) /* else it is lost */
        f->place[f->count++] = place;
    pthread_mutex_unlock(&arena.mutex);
}

size_t arena_bytes(const void *p)
{
    return header_of(p)->bytes;
}
