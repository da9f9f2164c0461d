/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The paper's loop (seed 004, figs. 2, 4, 5) in one call, for benchmarks.
 * Conventions as in dapl_rail.h.
 */
#ifndef DAPL_RAIL_BATCH_H
#define DAPL_RAIL_BATCH_H

#include "dapl_rail/dapl_rail.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** Per-rail account of a batch, in nanoseconds and bytes. */
typedef struct drail_rail_time {
    uint64_t post_ns; /**< in posting RDMA writes and the send */
    uint64_t wait_ns; /**< in waiting for events */
    uint64_t bytes;
    uint64_t cpu_ns; /**< CPU time of the rail's thread */
} drail_rail_time_t;

typedef struct drail_batch {
    drail_xfer_t xfer;
    unsigned count;   /**< RDMA writes of xfer per batch (20 in the seed) */
    uint32_t id;      /**< notification after them, over every rail
                           (engine auto, policy adaptive: over those with
                           data) */
    bool await_reply; /**< then wait for one notification of the peer that
                           came over every rail of its choice */
    bool account;     /**< fill in per_rail (costs clock readings) */
    drail_rail_time_t per_rail[DRAIL_MAX_RAILS]; /**< out, added to */
    uint32_t reply_id;                           /**< out */
} drail_batch_t;

/**
 * The paper's loop body (seed 004, figs. 2, 4, 5): each rail posts its stripe
 * of the message @p count times with completions suppressed, then a send to
 * notify, then waits for the peer's answer on that rail. The engine decides
 * whether one thread loops over the rails or one thread per rail does it; a
 * message on one rail only (below the threshold) is not worth a dispatch, the
 * caller does it. Blocking. An error in the middle ends the connection.
 */
int drail_batch(drail_t *rail, unsigned peer, drail_batch_t *batch);
/** The other side (fig. 4, client): waits for a notification over every rail
 *  and, with @p answer, notifies back over every rail. */
int drail_batch_answer(drail_t *rail, unsigned peer, bool answer,
                       uint32_t answer_id, uint32_t *id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
