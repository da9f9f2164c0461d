/* SPDX-License-Identifier: BSD-3-Clause */
#include "fence.h"

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

bool core_fence_asymmetric;

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#define USABLE 0 /* ThreadSanitizer knows fences, but not such barriers */
#else
#define USABLE 1
#endif

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

static void init(void)
{
    core_fence_asymmetric =
        USABLE && !membarrier(MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED) &&
        !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) &&
        !membarrier(MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}

void core_fence_init(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init);
}

void core_fence_heavy(bool own)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (core_fence_asymmetric)
        membarrier(own ? MEMBARRIER_CMD_PRIVATE_EXPEDITED
                       : MEMBARRIER_CMD_GLOBAL_EXPEDITED);
}
