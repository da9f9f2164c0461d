/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * The loop of Cai et al. 2009 (figs. 2, 4, 5) in one call, for benchmarks. The
 * rules of dapl_rail.h hold here, too.
 */
#ifndef DAPL_RAIL_BATCH_H
#define DAPL_RAIL_BATCH_H

#include "dapl_rail/dapl_rail.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/** What one rail took for a batch. */
typedef struct drail_rail_time {
    uint64_t post_ns; /**< time of posting RDMA writes and the send */
    uint64_t wait_ns; /**< time of waiting for events */
    uint64_t bytes;   /**< written */
    uint64_t cpu_ns;  /**< CPU time of the rail's thread */
} drail_rail_time_t;

typedef struct drail_batch {
    drail_xfer_t xfer; /**< what is written, again and again */
    unsigned count;    /**< RDMA writes per batch (20 in the paper); 0: only
                            the notification */
    uint32_t id;       /**< of the notification after them. It goes over every
                            rail; with engine auto or policy adaptive, over
                            those that carry data */
    bool await_reply;  /**< wait for a notification of the peer, over every
                            rail of the peer's choice, and set reply_id; else
                            only until this rank's notification is complete */
    bool account;      /**< add to per_rail, which costs clock readings */
    drail_rail_time_t per_rail[DRAIL_MAX_RAILS]; /**< out: added to, by rail */
    uint32_t reply_id;                           /**< out: id of the reply */
} drail_batch_t;

/**
 * Runs one batch (figs. 2, 4, 5). Each rail posts its stripe of the message
 * count times with completions suppressed, then a send to notify, then waits
 * for the peer's answer on that rail, if await_reply is set. With policy
 * roundrobin the rails take turns: each of the count writes is the whole
 * message on one rail. The engine decides whether one thread loops over the
 * rails or each rail has a thread; a message on one rail only (below the
 * threshold) is handled by the caller. Blocking: the peer must call
 * drail_batch_answer(), or drail_batch() itself.
 * @param rail the transport.
 * @param peer rank of the other side.
 * @param batch in and out; the caller's, unchanged by others until the return.
 * @return 0 or DRAIL_E…; DRAIL_EINVAL: no batch, or a transfer that is not
 * valid. After an error in the middle of a batch the connection has ended.
 */
int drail_batch(drail_t *rail, unsigned peer, drail_batch_t *batch);

/**
 * The other side (fig. 4, client): waits for the peer's notification, over all
 * rails that the peer has chosen. Blocking.
 * @param rail the transport.
 * @param peer rank of the other side.
 * @param answer notify back, over the same rails.
 * @param answer_id id of that notification.
 * @param id set to the id of the peer's notification; may be NULL.
 * @return 0 or DRAIL_E…; DRAIL_ETIMEOUT: none came within
 * drail_config_t.timeout_ms. The first call with a peer waits up to as long for
 * the connection before. After an error in the middle of an answer the
 * connection has ended.
 */
int drail_batch_answer(drail_t *rail, unsigned peer, bool answer,
                       uint32_t answer_id, uint32_t *id);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
