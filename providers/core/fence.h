/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fences for two sides of which one comes by far more often: each writes, and
 * then looks whether the other has written; at least one must see the other.
 * The frequent side needs no instruction if the rare one makes the kernel run
 * a barrier on every core that runs a thread of a registered process.
 */
#ifndef DAPL_CORE_FENCE_H
#define DAPL_CORE_FENCE_H

#include <stdatomic.h>
#include <stdbool.h>

/* This process is registered for, and uses, such barriers. Constant after
 * core_fence_init. */
extern bool core_fence_asymmetric;

/* Registers this process; to be called before the first fence. */
void core_fence_init(void);

/* The frequent side. `asymmetric`: the rare side's process has said that it
 * uses barriers (its core_fence_asymmetric), and so does this one. */
static inline void core_fence_light(bool asymmetric)
{
    if (asymmetric)
        atomic_signal_fence(memory_order_seq_cst);
    else
        atomic_thread_fence(memory_order_seq_cst);
}

/* The rare side: microseconds. `own`: the frequent one is of this process. */
void core_fence_heavy(bool own);

#endif
