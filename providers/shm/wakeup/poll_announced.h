/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SHM_POLL_ANNOUNCED_H
#define DAPL_SHM_POLL_ANNOUNCED_H

#include "providers/core/core.h"

/* core_transport.announced */
void shm_poll_announced(struct core_ia *ia, bool sure);

#endif
