/* SPDX-License-Identifier: BSD-3-Clause */
/* When a message that the link model delays may be received. */
#ifndef DAPL_SHM_DUE_H
#define DAPL_SHM_DUE_H

#include "providers/shm/connection.h"
#include "providers/shm/shm.h"

/* By this process's clock; 0: at once. */
static inline uint64_t shm_due(const struct shm_conn *c,
                               const struct shm_msg *m)
{
    return m->head.due ? m->head.due + c->sia->ahead_ns : 0;
}

/* Without a link model every message is, whatever the peer says. */
static inline bool shm_is_due(struct shm_conn *c, const struct shm_msg *m)
{
    return !m->head.due ||
           !atomic_load_explicit(&c->timed, memory_order_relaxed) ||
           shm_due(c, m) <= busywait_now_ns();
}

#endif
