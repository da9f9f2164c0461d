/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Static loops need no other thread; dynamic and guided ones are given out in
 * batches (batch.h).
 *
 * The turns of `ordered` regions go on from one loop to the next: a thread that
 * is ahead (nowait) waits until the loop before has passed its last turn.
 */
#include "omp/runtime/loop.h"

#include <sched.h>
#include <stdlib.h>

#include "omp/runtime/batch.h"
#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/room.h"
#include "omp/runtime/team.h"

struct loop_bounds loop_bounds(long start, long end, long step, long chunk)
{
    const bool up = step > 0;
    return loop_bounds_ull(up, (uint64_t)start + LOOP_BIAS,
                           (uint64_t)end + LOOP_BIAS, (uint64_t)step,
                           (uint64_t)chunk);
}

struct loop_bounds loop_bounds_ull(bool up, uint64_t start, uint64_t end,
                                   uint64_t step, uint64_t chunk)
{
    struct loop_bounds b = {
        .start = start, .end = end, .step = step, .chunk = chunk};
    if (up && start < end)
        b.iterations = (end - start - 1) / step + 1;
    else if (!up && start > end)
        b.iterations = (start - end - 1) / -step + 1;
    return b;
}

void loop_range(const struct loop_bounds *b, uint64_t first, uint64_t last,
                uint64_t *start, uint64_t *end)
{
    *start = b->start + first * b->step;
    *end = last == b->iterations ? b->end : b->start + last * b->step;
}

void loop_begin(struct thread *t, struct loop_bounds bounds, unsigned schedule,
                bool is_ordered)
{
    struct loop *loop = &t->loop;
    /* nothing to share; a loop's number is for what it leaves in a word */
    const bool alone = t->team->threads == 1 || !bounds.iterations;
    schedule &= ~SCHEDULE_MONOTONIC;
    if (schedule == SCHEDULE_AUTO || alone)
        schedule = SCHEDULE_STATIC;
    *loop = (struct loop){.bounds = bounds,
                          .schedule = schedule,
                          .is_ordered = is_ordered && !alone};
    if (schedule == SCHEDULE_STATIC && !loop->is_ordered)
        return;
    if (bounds.iterations > POSITION_MAX)
        fail(NOT_SERVED,
             "a loop of %llu iterations is not served (at most %llu, unless "
             "its schedule is static)",
             (unsigned long long)bounds.iterations,
             (unsigned long long)POSITION_MAX);
    if (loop->is_ordered) {
        loop->turns = t->turns++;
        loop->before = t->last_turn;
        t->last_turn = loop_word(loop->turns, bounds.iterations);
    }
    if (schedule == SCHEDULE_STATIC)
        return;
    loop->number = t->loops++;
    if (!bounds.chunk)
        loop->bounds.chunk = 1;
}

void loop_end_sharing(struct thread *t)
{
    room_leave(t, t->room);
    free(t->doacross);
    t->room = NULL;
    t->doacross = NULL;
}

void *loop_share(struct thread *t, size_t bytes)
{
    loop_end_sharing(t);
    t->room = room_enter(t, bytes);
    return t->room->memory;
}

/* One block for each thread, as the compiler divides schedule(static). */
static bool static_block(struct thread *t)
{
    struct loop *loop = &t->loop;
    const uint64_t threads = t->team->threads, id = t->id;
    const uint64_t least = loop->bounds.iterations / threads;
    const uint64_t longer = loop->bounds.iterations % threads;
    if (loop->trip++)
        return false;
    loop->first = id * least + (id < longer ? id : longer);
    loop->last = loop->first + least + (id < longer);
    return loop->first < loop->last;
}

static bool static_chunk(struct thread *t)
{
    struct loop *loop = &t->loop;
    const uint64_t chunk = loop->bounds.chunk, all = loop->bounds.iterations;
    const uint64_t chunks = all ? (all - 1) / chunk + 1 : 0;
    const uint64_t mine = loop->trip++ * t->team->threads + t->id;
    if (mine >= chunks)
        return false;
    loop->first = mine * chunk;
    loop->last = all - loop->first < chunk ? all : loop->first + chunk;
    return true;
}

void loop_await_turn(struct thread *t)
{
    struct loop *loop = &t->loop;
    if (!loop->is_ordered || loop->has_turn)
        return;
    const uint64_t turn =
        loop->first ? loop_word(loop->turns, loop->first) : loop->before;
    if (turn) {
        while (memory_load(&shared_words->turn) != turn)
            sched_yield();
        memory_acquire();
    }
    loop->has_turn = true;
}

/* The chunk, if there was one, is done. */
static void pass_turn(struct thread *t)
{
    struct loop *loop = &t->loop;
    if (!loop->is_ordered || loop->first == loop->last)
        return;
    loop_await_turn(t);
    memory_release();
    memory_atomic(DDSM_STORE, &shared_words->turn, sizeof(uint64_t),
                  loop_word(loop->turns, loop->last), 0);
    loop->has_turn = false;
}

bool loop_next(struct thread *t, uint64_t *start, uint64_t *end)
{
    struct loop *loop = &t->loop;
    bool more;
    pass_turn(t);
    if (loop->schedule != SCHEDULE_STATIC)
        more = batch_take(t);
    else
        more = loop->bounds.chunk ? static_chunk(t) : static_block(t);
    if (!more) {
        loop->first = loop->last = 0;
        return false;
    }
    loop_range(&loop->bounds, loop->first, loop->last, start, end);
    return true;
}
