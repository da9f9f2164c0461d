/* SPDX-License-Identifier: BSD-3-Clause */
/* The active side of a connection. ia->lock is held. */
#ifndef DAPL_SHM_ACTIVE_SIDE_H
#define DAPL_SHM_ACTIVE_SIDE_H

#include "providers/shm/connect/wire.h"
#include "providers/shm/connection.h"

/* core_transport.connect; the manager's thread runs. */
DAT_RETURN shm_active_connect(struct core_ep *ep, uint64_t timeout_us,
                              DAT_COUNT size, const void *private_data);
/* Asks the peer's service point, now or, when its queue is full, later. */
void shm_active_try(struct shm_conn *c);
/* The peer has accepted / has given up before this side read its answer. */
void shm_active_accepted(struct shm_conn *c, const struct shm_cm_msg *msg,
                         const int *fds);
void shm_active_retry(struct shm_conn *c);

#endif
