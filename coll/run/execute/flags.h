/* SPDX-License-Identifier: BSD-3-Clause */
/* Flags in node memory, by which the ranks of a node wait for each other.
 * Inline: a whole broadcast within a node takes only a few cache misses. */
#ifndef DCOLL_FLAGS_H
#define DCOLL_FLAGS_H

#include <string.h>

#include "coll/run/request.h"
#include "dapl_rail/platform/prefetch.h"

#define CROSSING_SHORT          512u /* bytes of a block */
#define AT_ONCE_BYTES           4096u
#define ALLREDUCE_AT_ONCE_BYTES 32768u

static inline unsigned flag_index(const dcoll_request_t *q, unsigned rank,
                                  unsigned flag)
{
    return (rank - q->team->first) * q->schedule.flags + flag;
}

/* The line of the flag that `rank` sets for the operation. */
static inline struct line *line_of(const dcoll_request_t *q, unsigned rank,
                                   const dcoll_op_t *op)
{
    unsigned index = flag_index(q, rank, op->flag);
    return op->bytes ? &q->lines[index * q->args.depth + depth_slot(q)]
                     : &q->words[index];
}

/* Measured between hosts whose ranks share cores: to sleep at once gains where
 * all ranks wait for each other's short blocks, and in all-reduces also for
 * somewhat longer ones. It loses for long ones, and where ranks run ahead. Not
 * in barriers: contests time calls that follow one, and ranks that sleep in it
 * leave it one after the other. Not in an all-to-all-v, whose args do not tell
 * how long the blocks are. */
static inline bool may_sleep_at_once(const dcoll_request_t *q)
{
    return q->team->several_hosts && !q->algorithm->ahead &&
           q->args.collective != DCOLL_BARRIER &&
           q->args.collective != DCOLL_ALLTOALLV &&
           q->args.bytes <= (q->args.collective == DCOLL_ALLREDUCE
                                 ? ALLREDUCE_AT_ONCE_BYTES
                                 : AT_ONCE_BYTES);
}

/* Do waits of this rank for the request leave the core at once? */
static inline bool sleeps_at_once(const dcoll_request_t *q)
{
    return q->team->oversubscribed && may_sleep_at_once(q);
}

/* Sets a flag. Returns whether a rank may be asleep on it. There is no fence: a
 * sleeper that is missed wakes up a slice later, or with the signal of the next
 * start. A flag for many starts, and one whose waiters may sleep at once, is
 * stored in total order with the sleeper's count and its look at the flag: it
 * misses no sleeper. */
static inline bool set_flag(_Atomic uint32_t *flag, uint32_t value,
                            const struct node_header *header, bool ordered)
{
    if (ordered) {
        atomic_store(flag, value);
        return atomic_load(&header->sleepers);
    }
    atomic_store_explicit(flag, value, memory_order_release);
    return atomic_load_explicit(&header->sleepers, memory_order_relaxed);
}

/* What makes later accesses cheaper. If the peer writes its line about now, a
 * look at it would first take the line away from it: waits a moment. If this
 * rank reads no line of the peer, it fetches its own of the next start, which
 * others have read. */
static inline void after_signal(const dcoll_request_t *q, const dcoll_op_t *op,
                                const struct line *line)
{
    const struct drail_platform *p = q->team->platform;
    const size_t slot = depth_slot(q), last = q->args.depth - 1;
    if (q->schedule.crossing && q->args.bytes < CROSSING_SHORT &&
        !platform_is_simulated(p))
        p->relax(p);
    if (op->bytes && q->algorithm->ahead)
        prefetch_for_write(line - slot + ((slot + 1) & last));
}

static inline void flag_signal(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct drail_platform *p = q->team->platform;
    struct line *line = line_of(q, q->team->rank, op);
    uint32_t value = (uint32_t)q->start + 1;
    if (op->bytes && !platform_is_hollow(p))
        memcpy(line->payload, address(q, op->src), op->bytes);
    if (p->set)
        p->set(p, &line->value, value);
    else if (set_flag(&line->value, value, q->header,
                      op->every || may_sleep_at_once(q)))
        p->wake(p, &line->value, true);
    after_signal(q, op, line);
}

/* Is the flag set for that start or a later one? Values wrap around. */
static inline bool is_set(uint32_t value, uint64_t start)
{
    return (int32_t)(value - ((uint32_t)start + 1)) >= 0;
}

static inline bool line_set(const struct line *line, uint64_t start)
{
    return is_set(atomic_load_explicit(&line->value, memory_order_acquire),
                  start);
}

/* DCOLL_AWAIT. 0, or DRAIL_EAGAIN: the peer has not set it yet. */
static inline int flag_await(dcoll_request_t *q, const dcoll_op_t *op)
{
    const struct line *line = line_of(q, op->peer, op);
    if (op->bytes) {
        if (!line_set(line, q->start))
            return DRAIL_EAGAIN;
        if (!platform_is_hollow(q->team->platform))
            memcpy(address(q, op->dst), line->payload, op->bytes);
        return 0;
    }
    if (q->start < op->lag || (op->offered && !q->dealing.pulled[op->peer]))
        return 0;
    /* reading the flag costs a cache miss: use the value seen before, if it is
     * high enough */
    uint32_t *seen = &q->seen[flag_index(q, op->peer, op->flag)];
    uint64_t start = dcoll_op_awaited(op, q->start);
    if (!is_set(*seen, start))
        *seen = atomic_load_explicit(&line->value, memory_order_acquire);
    return is_set(*seen, start) ? 0 : DRAIL_EAGAIN;
}

/* Is the awaited peer on another core? True if all ranks that share my cores
 * have set their flag. */
bool flag_elsewhere(dcoll_request_t *q, const dcoll_op_t *op);
/* Sleeps until the flag that op awaits is set, or until that time. */
void flag_sleep(dcoll_request_t *q, const dcoll_op_t *op, uint64_t until_ns);

#endif
