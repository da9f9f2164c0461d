/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The word that all ranks share has the number of a loop, and how many of its
 * iterations are given out. The number tells threads that are still in an
 * earlier loop, or already in a later one; so words are used again without a
 * barrier. A rank that finds a later loop in the word knows that its own has no
 * iteration left. The batches of a rank are used again in the same way.
 */
#include "omp/runtime/batch.h"

#include <pthread.h>

#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

#define LOOPS (sizeof shared_words->loops / sizeof *shared_words->loops)

/* What this rank has taken of a loop: iterations [next, end). */
static struct batch {
    pthread_mutex_t mutex;
    uint64_t number; /* the loop's, and 1 */
    uint64_t next, end;
    uint64_t seen; /* the last value of the shared word */
    bool is_last;  /* no more is left for this rank */
} batches[LOOPS] = {
    [0 ... LOOPS - 1] = {.mutex = PTHREAD_MUTEX_INITIALIZER},
};

/* How many loops later the word is; negative: earlier. */
static int64_t distance(const struct loop *loop, uint64_t word)
{
    return (int64_t)((word & ~POSITION_MAX) - loop_word(loop->number, 0)) >>
           POSITION_BITS;
}

/* The chunk of the loop that begins at this position. That of a guided loop is
 * a part of what is left there, so chunks shrink over all ranks. */
static uint64_t chunk_at(const struct thread *t, uint64_t position)
{
    const struct loop_bounds *b = &t->loop.bounds;
    const uint64_t left = b->iterations - position;
    uint64_t want = b->chunk;
    if (t->loop.schedule == SCHEDULE_GUIDED) {
        const uint64_t part = divided_up(left, 2 * (uint64_t)t->team->threads);
        want = part > want ? part : want;
    }
    return want < left ? want : left;
}

/* How many chunks the rank takes. It is one if threads have to wait for one
 * another (sections, ordered), if chunks are long anyway (guided), and near the
 * end, where other ranks would soon have nothing to do. */
static uint64_t chunks_of(const struct thread *t, uint64_t position)
{
    enum { ROUNDS = 4, MOST = 16 };
    const struct loop *loop = &t->loop;
    const uint64_t here = t->team->here, threads = t->team->threads;
    if (loop->is_ordered || loop->schedule == SCHEDULE_SECTIONS ||
        loop->schedule == SCHEDULE_GUIDED)
        return 1;
    const uint64_t chunks =
        (loop->bounds.iterations - position) / loop->bounds.chunk;
    const uint64_t each = chunks / (ROUNDS * threads);
    return each ? here * (each < MOST ? each : MOST) : 1;
}

/* Where a batch ends that begins there. */
static uint64_t batch_end(const struct thread *t, uint64_t position)
{
    for (uint64_t n = chunks_of(t, position);
         n && position < t->loop.bounds.iterations; n--)
        position += chunk_at(t, position);
    return position;
}

/* Takes the next batch, if there is one. */
static void refill(const struct thread *t, struct batch *b)
{
    const struct loop *loop = &t->loop;
    uint64_t *shared = &shared_words->loops[loop->number % LOOPS].next;
    for (;;) {
        const int64_t later = distance(loop, b->seen);
        const uint64_t position = later < 0 ? 0 : b->seen & POSITION_MAX;
        b->is_last = later > 0 || position >= loop->bounds.iterations;
        if (b->is_last)
            return;
        const uint64_t end = batch_end(t, position);
        const uint64_t found =
            memory_atomic(DDSM_COMPARE_SWAP, shared, sizeof *shared,
                          loop_word(loop->number, end), b->seen);
        if (found == b->seen) {
            b->seen = loop_word(loop->number, end);
            b->next = position;
            b->end = end;
            return;
        }
        b->seen = found;
    }
}

/* The rank's first thread to come begins the loop. */
static void begin(const struct loop *loop, struct batch *b)
{
    b->number = loop->number + 1;
    b->next = b->end = 0;
    b->is_last = false;
    b->seen = memory_load(&shared_words->loops[loop->number % LOOPS].next);
}

bool batch_take(struct thread *t)
{
    struct loop *loop = &t->loop;
    struct batch *b = &batches[loop->number % LOOPS];
    bool found = false;
    pthread_mutex_lock(&b->mutex);
    if (b->number <= loop->number)
        begin(loop, b);
    if (b->number == loop->number + 1) {
        if (b->next == b->end && !b->is_last)
            refill(t, b);
        found = b->next < b->end;
    }
    if (found) {
        loop->first = b->next;
        loop->last = b->next += chunk_at(t, b->next);
    }
    pthread_mutex_unlock(&b->mutex);
    return found;
}
