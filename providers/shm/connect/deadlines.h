/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SHM_DEADLINES_H
#define DAPL_SHM_DEADLINES_H

#include "providers/shm/shm.h"

/* Does what is due. Returns milliseconds until the next look; -1: none is
 * needed. ia->lock is held. */
int shm_deadlines_meet(struct shm_ia *sia);

#endif
