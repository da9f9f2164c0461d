/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SHM_ABORT_H
#define DAPL_SHM_ABORT_H

#include "providers/shm/connection.h"

/* core_transport.abort: breaks the connection after a local error. Any thread,
 * any lock. */
void shm_abort(struct core_ep *ep);

#endif
