/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes the shared heap. */
#include "dsm/heap_open.h"

#include <stdlib.h>
#include <string.h>

#include "dsm/alloc.h"
#include "dsm/base/enter.h"
#include "dsm/heap/heap.h"
#include "dsm/heap/returns.h"

static struct heap *new_heap(const ddsm_t *d, char *start, size_t bytes)
{
    const uintptr_t mask = SPAN_BYTES - 1;
    const size_t off = -(uintptr_t)start & mask;
    const size_t spans = bytes > off ? (bytes - off) >> SPAN_SHIFT : 0;
    struct heap *h = calloc(1, sizeof *h);
    if (!h)
        return NULL;
    pthread_mutex_init(&h->mutex, NULL);
    h->start = start + off;
    h->spans = spans;
    h->first = heap_part(d, spans, d->rank);
    h->count = heap_part(d, spans, d->rank + 1) - h->first;
    for (unsigned i = 0; i < SIZES; i++)
        h->partial[i] = SPAN_NONE;
    h->span = calloc(h->count + 1, sizeof *h->span);
    h->freed = calloc(d->size, sizeof *h->freed);
    h->keys = calloc(d->size, sizeof *h->keys);
    return h;
}

/* Registered memory has the same layout on all ranks. */
static int register_memory(ddsm_t *d, struct heap *h)
{
    const size_t most = h->spans - h->spans / 2 + 1; /* spans of a part */
    const size_t table = (d->size > 1 ? most : h->spans + 1) * sizeof *h->bytes;
    const size_t rings = (table + 63) / 64 * 64;
    const size_t stage = rings + d->size * sizeof *h->ring;
    const size_t words = stage + RING_ENTRIES * sizeof *h->stage;
    void *start;
    if (!h->span || !h->freed || !h->keys)
        return space_fail(d, DRAIL_ENOMEM, "out of memory for the heap");
    int rc = drail_mem_alloc(
        d->t, words + 2 * sizeof(uint64_t),
        DRAIL_ACCESS_REMOTE_READ | DRAIL_ACCESS_REMOTE_WRITE, &start, &h->mem);
    if (rc)
        return space_fail_rails(d, rc, "memory of the heap");
    h->bytes = start;
    h->bytes_offset = 0;
    h->rings_offset = rings;
    h->ring = (struct ring *)((char *)start + rings);
    h->stage = (struct returned *)((char *)start + stage);
    h->tail = (uint64_t *)((char *)start + words);
    h->answer = h->tail + 1;
    return 0;
}

struct offer {
    int rc;
    uint64_t start, spans;
    drail_key_t key;
};

struct exchange {
    drail_job_t *job;
    const struct offer *mine;
    struct offer *all;
    int rc;
};

static void exchange(void *arg)
{
    struct exchange *e = arg;
    e->rc = drail_job_allgather(e->job, e->mine, sizeof *e->mine, e->all, -1);
}

/* Exchanges keys, and how it went. Another rank may come here only when this
 * one has served its pack. */
static int agree(ddsm_t *d, struct heap *h, int rc)
{
    struct offer mine = {.rc = rc}, all[d->size];
    struct exchange e = {d->job, &mine, all, 0};
    if (!rc) {
        mine.start = (uintptr_t)h->start;
        mine.spans = h->spans;
        drail_mem_key(h->mem, &mine.key);
    }
    space_step_out(d, exchange, &e);
    const int told = e.rc;
    if (told)
        return rc ? rc
                  : space_fail(d, told, "%s: %s", drail_strerror(told),
                               drail_job_last_error(d->job));
    for (unsigned r = 0; r < d->size && !rc; r++) {
        if (all[r].rc)
            rc = space_fail(d, all[r].rc, "rank %u: no heap", r);
        else if (all[r].start != mine.start || all[r].spans != mine.spans)
            rc = space_fail(d, DRAIL_EINVAL,
                            "ddsm_heap_open: another range on rank %u", r);
        else
            h->keys[r] = all[r].key;
    }
    return rc;
}

static void free_heap(struct heap *h, unsigned ranks)
{
    for (size_t i = 0; h->span && i < h->count; i++)
        free(h->span[i].taken);
    for (unsigned r = 0; h->freed && r < ranks; r++)
        free(h->freed[r].block);
    pthread_mutex_destroy(&h->mutex);
    free(h->span);
    free(h->freed);
    free(h->keys);
    free(h);
}

void heap_close(ddsm_t *d)
{
    if (d->heap)
        free_heap(d->heap, d->size);
    d->heap = NULL;
}

static int check(ddsm_t *d, const char *start, size_t bytes)
{
    size_t first, count;
    if (d->heap)
        return space_fail(d, DRAIL_EINVAL, "the space has a heap already");
    if (bytes < 2 * SPAN_BYTES * d->size ||
        !alloc_find(d, start, bytes, &first, &count))
        return space_fail(d, DRAIL_EINVAL,
                          "ddsm_heap_open: %zu bytes at %p are not allocated "
                          "memory of at least %zu bytes",
                          bytes, (const void *)start, 2 * SPAN_BYTES * d->size);
    return 0;
}

int ddsm_heap_open(ddsm_t *d, void *start, size_t bytes)
{
    struct heap *h = NULL;
    if (!d)
        return DRAIL_EINVAL;
    int rc = space_enter(d);
    if (rc)
        return rc;
    rc = d->broken ? d->broken : check(d, start, bytes);
    if (!rc) {
        h = new_heap(d, start, bytes);
        rc = h ? register_memory(d, h)
               : space_fail(d, DRAIL_ENOMEM, "out of memory for the heap");
    }
    rc = agree(d, h, rc);
    if (!rc) {
        d->heap = h;
    } else if (h) {
        if (h->mem)
            drail_mem_release(h->mem);
        free_heap(h, d->size);
    }
    space_leave(d);
    return rc;
}
