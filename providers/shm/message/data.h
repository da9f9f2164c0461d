/* SPDX-License-Identifier: BSD-3-Clause */
/* The data path, as connection manager and core see it. */
#ifndef DAPL_SHM_DATA_H
#define DAPL_SHM_DATA_H

#include "providers/shm/connection.h"

/* ---- send.c ---- */

/* core_transport.post */
DAT_RETURN shm_post(struct core_ep *ep, const struct core_dto *dto);
/* core_transport.post_sync, of an IA without cable and link model */
DAT_RETURN shm_post_sync(struct core_ep *ep, const struct core_dto *dto);
uint64_t shm_writes_counted(struct core_ep *ep);
/* Moves unfinished requests on, and tells the peer whether this side waits for
 * its counters. ep->lock is held. */
void shm_requests_advance(struct shm_conn *c);
/* A range is withdrawn: the sends that wait here for room, and would then be
 * read from it, fail and break the connection. ia->lock is held. */
void shm_requests_withdraw(struct shm_conn *c, uint32_t key);
/* Has a mute cable lost the oldest unfinished request? */
bool shm_waits_in_vain(struct core_ep *ep);
/* Queues a request behind the unfinished ones. `done`: it completes as soon as
 * they have. */
void shm_request_queue(struct core_ep *ep, const struct core_dto *dto,
                       const struct shm_request *p, bool done,
                       DAT_DTO_COMPLETION_STATUS status);

/* ---- direct.c: core_transport.direct, of an IA without cable and link model
 * ---- */

bool shm_direct_send(DAT_EP_HANDLE ep, const void *head, size_t head_bytes,
                     const void *body, size_t bytes, DAT_DTO_COOKIE cookie);
bool shm_direct_take(DAT_EP_HANDLE ep, unsigned polls,
                     dapl_take_message_t take_message, void *context);
bool shm_direct_write(DAT_EP_HANDLE ep, const void *local, size_t bytes,
                      DAT_RMR_CONTEXT key, DAT_VADDR remote);

/* ---- receive.c ---- */

/* core_transport.recv_post, .recv_posted */
DAT_RETURN shm_recv_post(struct core_ep *ep, const struct core_wqe *w);
void shm_recv_posted(struct core_ep *ep);
/* Tells the peer of the receives posted before the connection. */
void shm_recv_publish(struct shm_conn *c);
/* Receives one message; false when there is none, or no receive for it.
 * ep->lock is held. */
bool shm_receive(struct shm_conn *c);
/* Tells the sender, if it waits for them, that counters have changed. */
void shm_notify_sender(struct shm_conn *c);

/* ---- progress.c ---- */

/* core_transport.progress, .next_due */
void shm_progress(struct core_ep *ep, bool sure);
uint64_t shm_next_due(struct core_ep *ep, uint64_t seen);
/* When the next message arrives that the link model holds back; 0: none. */
uint64_t shm_arriving(struct core_ep *ep);

#endif
