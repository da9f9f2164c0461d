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
    return (int64_t)((word & ~POSITION_MAX) - loop_word(loop, 0)) >>
           POSITION_BITS;
}

static uint64_t at_least(uint64_t least, uint64_t value)
{
    return value > least ? value : least;
}

/* How many iterations the rank takes of those that are left. A batch has one
 * chunk if threads have to wait for one another (sections, ordered), and near
 * the end, where other ranks would soon have nothing to do. */
static uint64_t batch_of(const struct thread *t, uint64_t left)
{
    enum { ROUNDS = 4, MOST = 16 };
    const struct loop *loop = &t->loop;
    const uint64_t chunk = loop->bounds.chunk, threads = t->team->threads;
    uint64_t want;
    if (loop->schedule == SCHEDULE_GUIDED) {
        want = divided_up(left, threads);
        if (!loop->is_ordered)
            want = divided_up(want * t->team->here, 2);
        want = at_least(chunk, want);
    } else {
        uint64_t each = left / chunk / (ROUNDS * threads);
        if (each > MOST)
            each = MOST;
        want = loop->is_ordered || loop->schedule == SCHEDULE_SECTIONS
                   ? chunk
                   : chunk * at_least(1, each * t->team->here);
    }
    return want < left ? want : left;
}

/* A thread's part of what is left of the batch. */
static uint64_t chunk_of(const struct thread *t, uint64_t left)
{
    const struct loop *loop = &t->loop;
    uint64_t want = loop->bounds.chunk;
    if (loop->schedule == SCHEDULE_GUIDED)
        want = at_least(
            want, loop->is_ordered ? left : divided_up(left, t->team->here));
    return want < left ? want : left;
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
        const uint64_t end =
            position + batch_of(t, loop->bounds.iterations - position);
        const uint64_t found =
            memory_atomic(DDSM_COMPARE_SWAP, shared, sizeof *shared,
                          loop_word(loop, end), b->seen);
        if (found == b->seen) {
            b->seen = loop_word(loop, end);
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
        loop->last = b->next += chunk_of(t, b->end - b->next);
    }
    pthread_mutex_unlock(&b->mutex);
    return found;
}
