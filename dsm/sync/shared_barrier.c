/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A rank has two places, for even and odd barriers. It stores to a place again
 * two barriers later, when all have arrived at the barrier between, so all have
 * left the one before.
 */
#include "dsm/sync/shared_barrier.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "dsm/pages/map.h"
#include "dsm/sync/peer_wait.h"

#define POLLS 4000u /* before a pause: 1 or 2 us */

enum { NOTE_WORDS = DDSM_NOTE_BYTES / sizeof(uint64_t) };

/* A short note lies in the first cache line. */
struct shared_arrival {
    _Alignas(128) _Atomic uint64_t number; /* of the barrier, stored last */
    uint64_t allocs, shape;                /* as in struct arrival */
    uint64_t words;                        /* of the note; 0 follows */
    uint64_t note[NOTE_WORDS];
};

static struct shared_arrival *place_of(const ddsm_t *d, unsigned rank)
{
    return &d->shared_arrivals[2 * rank + d->shared_barriers % 2];
}

size_t shared_barrier_bytes(const ddsm_t *d)
{
    return 2 * d->size * sizeof(struct shared_arrival);
}

int shared_barrier_open(ddsm_t *d)
{
    const size_t bytes = shared_barrier_bytes(d);
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, d->fd,
                   (off_t)map_bytes(d));
    if (p != MAP_FAILED)
        d->shared_arrivals = p;
    return p == MAP_FAILED || madvise(p, bytes, MADV_DONTFORK)
               ? space_fail(d, DRAIL_ENOMEM, "no memory for barriers: %s",
                            strerror(errno))
               : 0;
}

void shared_barrier_close(ddsm_t *d)
{
    if (d->shared_arrivals)
        munmap(d->shared_arrivals, shared_barrier_bytes(d));
}

static void arrive(ddsm_t *d, const void *note)
{
    struct shared_arrival *mine = place_of(d, d->rank);
    mine->allocs = d->allocs;
    mine->shape = d->shape;
    mine->words = 0;
    if (note) {
        memcpy(mine->note, note, DDSM_NOTE_BYTES);
        for (mine->words = NOTE_WORDS;
             mine->words && !mine->note[mine->words - 1]; mine->words--)
            continue;
    }
    atomic_store_explicit(&mine->number, d->shared_barriers,
                          memory_order_release);
}

static bool has_come(const ddsm_t *d, const struct shared_arrival *theirs)
{
    for (unsigned i = 0; i < POLLS; i++)
        if (atomic_load_explicit(&theirs->number, memory_order_acquire) ==
            d->shared_barriers)
            return true;
    return false;
}

/* @peer_wait begins with the first pause: most waits are shorter. */
static int await(ddsm_t *d, const struct shared_arrival *theirs,
                 struct peer_wait *peer_wait)
{
    while (!has_come(d, theirs)) {
        if (!peer_wait->start_ns)
            *peer_wait = peer_wait_begin(d);
        drail_progress(d->t); /* other ranks may need it */
        int rc = peer_wait_pause(d, peer_wait);
        if (rc && !d->broken)
            space_break(d,
                        space_fail(d, rc, "barrier: %s", drail_strerror(rc)));
        if (rc)
            return rc;
    }
    return 0;
}

static void take_note(const struct shared_arrival *theirs, char *note)
{
    const size_t bytes = theirs->words * sizeof(uint64_t);
    memcpy(note, theirs->note, bytes);
    memset(note + bytes, 0, DDSM_NOTE_BYTES - bytes);
}

int shared_barrier_run(ddsm_t *d, const void *note, void *notes)
{
    struct peer_wait peer_wait = {0};
    d->shared_barriers++;
    arrive(d, note);
    for (unsigned r = 0; r < d->size; r++) {
        const struct shared_arrival *theirs = place_of(d, r);
        int rc = await(d, theirs, &peer_wait);
        if (rc)
            return rc;
        d->control.arrivals[r].allocs = theirs->allocs;
        d->control.arrivals[r].shape = theirs->shape;
        if (notes)
            take_note(theirs, (char *)notes + (size_t)r * DDSM_NOTE_BYTES);
    }
    return 0;
}
