/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fences between two sides of which one runs far more often. Each side stores,
 * and then loads what the other may have stored; at least one must see the
 * other's store. The frequent side needs no instruction if the rare one lets
 * the kernel run a barrier on every core that runs a thread of a registered
 * process (membarrier).
 */
#ifndef DAPL_CORE_FENCE_H
#define DAPL_CORE_FENCE_H

#include <stdatomic.h>
#include <stdbool.h>

/* This process is registered and uses such barriers. Constant after
 * core_fence_init. */
extern bool core_fence_asymmetric;

/* Registers this process; to be called before the first fence. */
void core_fence_init(void);

/* The frequent side. @p asymmetric: the rare side's process uses barriers (its
 * core_fence_asymmetric), and so does this one. */
static inline void core_fence_light(bool asymmetric)
{
    if (asymmetric)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}

/* The rare side; takes microseconds. @p own: the frequent side is in this
 * process. */
void core_fence_heavy(bool own);

#endif
