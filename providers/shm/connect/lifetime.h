/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a connection. ia->lock is held. */
#ifndef DAPL_SHM_LIFETIME_H
#define DAPL_SHM_LIFETIME_H

#include "providers/shm/connection.h"
#include "providers/shm/shm.h"

#define SHM_RETRY_NS     1000000u     /* full listener's queue, draining */
#define SHM_HANDSHAKE_NS 10000000000u /* for the peer's manager to answer */

/* A connection of the IA in this state (SHM_CONN_CONNECTING: of the active
 * side); NULL: out of memory. */
struct shm_conn *shm_conn_new(struct shm_ia *sia, enum shm_conn_state state);
/* Frees it, now or, while its peer is in an access, in shm_conn_reap. */
void shm_conn_free(struct shm_conn *c);
void shm_conn_reap(struct shm_ia *sia);
void shm_conn_free_all(struct shm_ia *sia);
/* Gives the EP to the connection and the connection to the EP. */
void shm_conn_attach(struct shm_conn *c, struct core_ep *ep);
/* Sets c->peer to the process at the other end of c->fd, whose control segment
 * this is; 0, or -1 if it is not valid. And to NULL again. */
int shm_conn_find_peer(struct shm_conn *c, int control_fd);
void shm_conn_forget_peer(struct shm_conn *c);
/* Sets a deadline from now on, and wakes the thread for it. */
void shm_conn_set_deadline(struct shm_conn *c, uint64_t ns);
/* Tells the consumer that it is connected. */
void shm_conn_established(struct shm_conn *c, const void *private_data,
                          DAT_COUNT size);
/* Shuts it down: the peer sees the end of the socket. */
void shm_conn_close(struct shm_conn *c);
/* Shuts it down and tells the consumer by this event: at once or, while its
 * peer is in an access, in shm_conn_end_on. */
void shm_conn_end(struct shm_conn *c, DAT_EVENT_NUMBER event,
                  const void *private_data, DAT_COUNT size);
/* SHM_CONN_ENDING: looks again. */
void shm_conn_end_on(struct shm_conn *c);

/* core_transport.disconnect, .ep_release, .set_bells */
void shm_disconnect(struct core_ep *ep, bool graceful);
void shm_ep_release(struct core_ep *ep);
void shm_set_bells(struct core_ep *ep, uint64_t bells);

#endif
