/* SPDX-License-Identifier: BSD-3-Clause */
/* The cable of a rail, as the rail sees it (the file: cable_file.h). */
#ifndef DAPL_SHM_CABLE_H
#define DAPL_SHM_CABLE_H

#include "providers/shm/connection.h"
#include "providers/shm/link_model/cable_file.h"
#include "providers/shm/shm.h"

/* Opens the rail's cable, if it has one. 0, or -1 after one line on stderr. */
int shm_cable_open(struct shm_ia *sia);
void shm_cable_close(struct shm_ia *sia);
/* Takes the notifications of changes, so that only a later change wakes the
 * connection manager again. */
void shm_cable_seen(struct shm_ia *sia);
/* The factor by which bytes take longer, from 1 on. */
double shm_cable_cost(const struct shm_ia *sia);
/* Without a link model: spins until what began at @p start has taken as much
 * longer. */
void shm_cable_slow_down(const struct shm_ia *sia, uint64_t start);

/* May no connection be made? */
static inline bool shm_cable_pulled(const struct shm_ia *sia)
{
    return sia->cable &&
           (atomic_load(&sia->cable->pulled) || atomic_load(&sia->cable->mute));
}
/* Has the cable been pulled since this connection began? The rail has one. */
static inline bool shm_cable_cut(const struct shm_conn *c)
{
    return atomic_load_explicit(&c->sia->cable->cuts, memory_order_relaxed) !=
           c->cuts;
}

#endif
