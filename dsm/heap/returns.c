/* SPDX-License-Identifier: BSD-3-Clause */
#include "dsm/heap/returns.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dsm/base/rdma.h"
#include "dsm/heap/spans.h"

bool returns_add(struct heap *h, unsigned owner, char *block)
{
    struct freed *f = &h->freed[owner];
    if (f->count == f->room) {
        const size_t room = f->room ? 2 * f->room : 64;
        char **more = realloc(f->block, room * sizeof *more);
        if (!more)
            return false;
        f->block = more;
        f->room = room;
    }
    f->block[f->count++] = block;
    atomic_fetch_add(&h->waiting, 1);
    return true;
}

static bool has_waiting(const ddsm_t *d)
{
    return d->heap &&
           atomic_load_explicit(&d->heap->waiting, memory_order_relaxed);
}

void returns_collect(ddsm_t *d)
{
    if (!has_waiting(d))
        return;
    pthread_mutex_lock(&d->heap->mutex);
    for (unsigned r = 0; r < d->size; r++)
        d->heap->freed[r].ready = d->heap->freed[r].count;
    pthread_mutex_unlock(&d->heap->mutex);
}

static drail_xfer_t transfer(const ddsm_t *d, unsigned rank, size_t offset,
                             void *local, size_t bytes)
{
    return (drail_xfer_t){.local = local,
                          .local_mem = d->heap->mem,
                          .remote = &d->heap->keys[rank],
                          .remote_offset = offset,
                          .bytes = bytes};
}

static int put(ddsm_t *d, unsigned rank, size_t offset, void *from,
               size_t bytes)
{
    const drail_xfer_t xfer = transfer(d, rank, offset, from, bytes);
    return rdma_write(d, rank, &xfer);
}

int returns_read(ddsm_t *d, unsigned rank, size_t offset)
{
    const drail_xfer_t xfer =
        transfer(d, rank, offset, d->heap->answer, sizeof *d->heap->answer);
    int rc = d->broken ? d->broken : rdma_read(d, rank, &xfer);
    return rc ? space_break_rails(d, rc, "reading a rank's heap") : 0;
}

/* Free entries up to the end of the array. */
static int room_in(ddsm_t *d, unsigned owner, size_t ring, size_t *room)
{
    struct freed *f = &d->heap->freed[owner];
    int rc = 0;
    if (f->sent - f->arrived == RING_ENTRIES) {
        rc = returns_read(d, owner, ring + offsetof(struct ring, taken));
        f->arrived = *d->heap->answer;
    }
    const size_t free = RING_ENTRIES - (f->sent - f->arrived);
    const size_t straight = RING_ENTRIES - f->sent % RING_ENTRIES;
    *room = rc ? 0 : free < straight ? free : straight;
    return rc;
}

/* Moves up to @room ready blocks to the stage. */
static size_t fill_stage(ddsm_t *d, struct freed *f, size_t room)
{
    struct heap *h = d->heap;
    pthread_mutex_lock(&h->mutex);
    const size_t n = f->ready < room ? f->ready : room;
    for (size_t i = 0; i < n; i++)
        h->stage[i] =
            (struct returned){(uint64_t)(f->block[i] - h->start), d->log_end};
    f->count -= n;
    f->ready -= n;
    memmove(f->block, f->block + n, f->count * sizeof *f->block);
    atomic_fetch_sub(&h->waiting, n);
    pthread_mutex_unlock(&h->mutex);
    return n;
}

/* What finds no room waits for the next flush. */
static int hand_over_to(ddsm_t *d, unsigned owner)
{
    struct heap *h = d->heap;
    struct freed *f = &h->freed[owner];
    const size_t ring = h->rings_offset + d->rank * sizeof(struct ring);
    while (f->ready) {
        size_t room;
        int rc = room_in(d, owner, ring, &room);
        if (rc || !room)
            return rc;
        const size_t n = fill_stage(d, f, room);
        const size_t at = offsetof(struct ring, entry) +
                          f->sent % RING_ENTRIES * sizeof *h->stage;
        f->sent += n;
        *h->tail = f->sent;
        rc = put(d, owner, ring + at, h->stage, n * sizeof *h->stage);
        if (!rc)
            rc = put(d, owner, ring + offsetof(struct ring, tail), h->tail,
                     sizeof *h->tail);
        if (rc)
            return rc;
    }
    return 0;
}

int returns_hand_over(ddsm_t *d)
{
    int rc = 0;
    if (!has_waiting(d))
        return 0;
    for (unsigned r = 0; r < d->size && !rc; r++)
        if (r != d->rank)
            rc = hand_over_to(d, r);
    return rc ? space_break_rails(d, rc, "returning freed memory") : 0;
}

static void take_from(ddsm_t *d, unsigned rank)
{
    struct heap *h = d->heap;
    struct ring *ring = &h->ring[rank];
    uint64_t taken = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    const uint64_t tail = atomic_load(&ring->tail);
    if (taken == tail)
        return;
    pthread_mutex_lock(&h->mutex);
    for (; taken < tail; taken++) {
        const struct returned *e = &ring->entry[taken % RING_ENTRIES];
        if (e->position > d->vector_clock[rank])
            break;
        if (!spans_give(h, h->start + e->offset)) {
            fprintf(stderr, "ddsm_free on rank %u: no block begins at %p\n",
                    rank, (void *)(h->start + e->offset));
            abort();
        }
    }
    pthread_mutex_unlock(&h->mutex);
    atomic_store(&ring->taken, taken);
}

void returns_take(ddsm_t *d)
{
    for (unsigned r = 0; d->heap && r < d->size; r++)
        if (r != d->rank)
            take_from(d, r);
}
