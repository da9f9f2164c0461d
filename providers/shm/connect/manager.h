/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection manager of an IA: its thread. */
#ifndef DAPL_SHM_MANAGER_H
#define DAPL_SHM_MANAGER_H

#include "providers/shm/shm.h"

/* core_transport.listen, .connect: start the thread if it does not run yet.
 * ia->lock is held. */
DAT_RETURN shm_listen(struct core_sp *sp);
DAT_RETURN shm_connect(struct core_ep *ep, uint64_t timeout_us, DAT_COUNT size,
                       const void *private_data);
/* Ends the thread and frees all connections. */
void shm_manager_stop(struct shm_ia *sia);
/* In a forked child: lets go of what it shares with its parent. */
void shm_manager_forked(struct shm_ia *sia);

#endif
