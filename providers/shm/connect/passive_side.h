/* SPDX-License-Identifier: BSD-3-Clause */
/* The passive side of a connection. ia->lock is held. */
#ifndef DAPL_SHM_PASSIVE_SIDE_H
#define DAPL_SHM_PASSIVE_SIDE_H

#include "providers/shm/connect/watch.h"
#include "providers/shm/connect/wire.h"
#include "providers/shm/connection.h"

/* core_transport.listen; the manager's thread runs. */
DAT_RETURN shm_passive_listen(struct core_sp *sp);
/* core_transport.unlisten, .accept, .reject */
void shm_unlisten(struct core_sp *sp);
DAT_RETURN shm_accept(struct core_cr *cr, struct core_ep *ep, DAT_COUNT size,
                      const void *private_data);
void shm_reject(struct core_cr *cr, DAT_COUNT size, const void *private_data);

/* Accepts the sockets that wait at a listener. Without descriptors, listeners
 * are deaf until shm_passive_listen_again. */
void shm_passive_arrivals(struct shm_ia *sia, struct shm_listener *l);
void shm_passive_listen_again(struct shm_ia *sia);
/* A request has arrived: makes a CR of it. Takes fds[0]. */
void shm_passive_request(struct shm_conn *c, const struct shm_cm_msg *msg,
                         int fds[SHM_CM_FDS]);

#endif
