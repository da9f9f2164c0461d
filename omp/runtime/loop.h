/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops whose iterations are given out by chunks, and sections. Iterations are
 * counted from 0 here; loop_next() returns them as the program counts. */
#ifndef OMP_RUNTIME_LOOP_H
#define OMP_RUNTIME_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thread;

/* As the program counts, in two's complement. */
struct loop_bounds {
    uint64_t start, end, step;
    uint64_t iterations;
    uint64_t chunk; /* 0: none given */
};

/* loop_bounds() moves the bounds up by this, so that they are not negative. */
#define LOOP_BIAS (UINT64_C(1) << 63)

struct loop {
    struct loop_bounds bounds;
    unsigned schedule; /* an enum schedule */
    bool is_ordered;
    bool has_turn;        /* for `ordered`, with its chunk */
    uint64_t first, last; /* its chunk is [first, last) */
    uint64_t trip;        /* how many chunks a static loop has given */
    uint64_t
        number; /* among the team's loops that take batches (batch.h); or … */
    uint32_t turns;  /* … among those with `ordered` regions */
    uint64_t before; /* the turn that its first iteration waits for; 0: none */
};

/* A position in a loop, with the loop's number. */
enum { POSITION_BITS = 44 };
#define POSITION_MAX ((UINT64_C(1) << POSITION_BITS) - 1)
/* The part of a loop number that a shared word holds. */
#define TURNS_MAX (UINT64_MAX >> POSITION_BITS)
static inline uint64_t loop_word(uint64_t number, uint64_t position)
{
    return number << POSITION_BITS | position;
}

/* How many parts of at most @by make up @value. */
static inline uint64_t divided_up(uint64_t value, uint64_t by)
{
    return value / by + (value % by != 0);
}

struct loop_bounds loop_bounds(long start, long end, long step, long chunk);
struct loop_bounds loop_bounds_ull(bool up, uint64_t start, uint64_t end,
                                   uint64_t step, uint64_t chunk);
/* Iterations [first, last), as the program counts. */
void loop_range(const struct loop_bounds *b, uint64_t first, uint64_t last,
                uint64_t *start, uint64_t *end);

/* The thread begins a loop. */
void loop_begin(struct thread *t, struct loop_bounds bounds, unsigned schedule,
                bool is_ordered);
/* The loop that the thread begins has memory that all threads share: @bytes,
 * which are 0 at first. It lasts until the thread's next such loop. */
void *loop_share(struct thread *t, size_t bytes);
/* The thread has no more loops. */
void loop_end_sharing(struct thread *t);
/* Its next chunk; false: there is none. */
bool loop_next(struct thread *t, uint64_t *start, uint64_t *end);
/* The thread's chunk is the first one that is not done: its `ordered` region
 * may run. */
void loop_await_turn(struct thread *t);

#endif
