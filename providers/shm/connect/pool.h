/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef DAPL_SHM_POOL_H
#define DAPL_SHM_POOL_H

#include "providers/shm/connection.h"

/* A connection of the active (0) or passive (1) side, zero but for its place;
 * NULL: out of memory. Its memory is never given back. */
struct shm_conn *shm_conn_take(int side);
void shm_conn_give(struct shm_conn *c);

#endif
