/* SPDX-License-Identifier: BSD-3-Clause */
/* Sleeping on a bell of the own doorbell page, and ringing those of peers. */
#ifndef DAPL_SHM_DOORBELL_H
#define DAPL_SHM_DOORBELL_H

#include "providers/shm/wakeup/control.h"

/* Wakes the sleepers of these bells, whichever have armed one. */
void shm_door_ring(struct shm_doorbell *door, uint64_t bells);
/* core_transport.arm, .sleep, .ring */
void shm_arm(struct core_ia *ia, uint64_t bell);
int shm_sleep(struct core_ia *ia, uint64_t bell, bool fed, uint64_t timeout_ns);
void shm_ring(struct core_ia *ia, uint64_t bells);

#endif
