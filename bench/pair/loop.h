/* SPDX-License-Identifier: BSD-3-Clause */
/* The timed loops. Rank 0 leads and measures, rank 1 follows. */
#ifndef BENCH_LOOP_H
#define BENCH_LOOP_H

#include "bench/stats/hist.h"
#include "dapl_rail/batch.h"
#include "session.h"

/** What one call of a loop does, and what it found. */
typedef struct loop_run {
    session_t *session;
    const setup_t *setup;
    size_t bytes;           /**< of one message */
    uint64_t warmup;        /**< iterations that are not measured */
    uint64_t iterations;    /**< at least 1 */
    bool checked;           /**< contents will be checked: write only them */
    drail_batch_t *account; /**< if not NULL: fill in its per_rail; not
                                 with a window */

    hist_t *samples; /**< rank 0, may be NULL: time of each iteration */
    uint64_t ns;     /**< sum of the times of all iterations */
    uint64_t cpu_ns; /**< CPU time of this rank in the same time */
} loop_run_t;

typedef struct loop {
    const char *name;
    bool batched;        /**< an iteration is a batch of opts->batch messages
                              each way; else one message there and one back */
    unsigned directions; /**< 2: rank 1 writes to rank 0, too */
    /** Runs one rank's part. @return 0 or DRAIL_E… */
    int (*run)(loop_run_t *run);
} loop_t;

extern const loop_t loop_bw, loop_bibw; /* batch.c */
extern const loop_t loop_pingpong;      /* pingpong.c */

/** Does the ping-pong of this setup look at the target's memory to find the
 *  end of a message (but of 0 bytes)? Else it waits for a notification. */
bool pingpong_polls(const session_t *session, const setup_t *setup);

/** Runs @p step warmup + iterations times; rank 0 measures each. For loops. */
int loop_measure(loop_run_t *run, int (*step)(loop_run_t *, uint64_t, void *),
                 void *arg);

/** Loops of other operations: sends in batches and as a ping-pong (send.c); one
 *  read, or one atomic, after the other (alone.c). */
int send_batches(loop_run_t *run);
int send_pingpong(loop_run_t *run);
int alone_run(loop_run_t *run);

/** Tells the peer so, or waits until it does, as long as that takes: it may die
 *  meanwhile, and each of its own waits is bounded. */
int loop_tell(session_t *session);
int loop_hear(session_t *session);

/** Bytes that one iteration moves, in all directions. */
uint64_t loop_bytes(const loop_t *loop, uint64_t bytes, uint64_t batch);
/** Messages that follow each other in one iteration: its time over this is
 *  the latency of one message. */
uint64_t loop_messages(const loop_t *loop, uint64_t batch);

#endif
