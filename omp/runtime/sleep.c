/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/sleep.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "omp/runtime/icv.h"

enum {
    POLLS = 300,  /* a barrier of threads that all run */
    YIELDS = 100, /* more threads than processors */
};

static long futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
    return syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL,
                   NULL, 0);
}

void event_wait(struct event *event, uint32_t seen)
{
    for (int i = settings.passive ? POLLS + YIELDS : 0; i < POLLS + YIELDS;
         i++) {
        if (atomic_load_explicit(&event->count, memory_order_acquire) != seen)
            return;
        if (i >= POLLS)
            sched_yield();
    }
    atomic_fetch_add(&event->sleepers, 1);
    while (atomic_load(&event->count) == seen)
        futex(&event->count, FUTEX_WAIT, seen);
    atomic_fetch_sub(&event->sleepers, 1);
}

void event_signal(struct event *event)
{
    atomic_fetch_add(&event->count, 1);
    if (atomic_load(&event->sleepers))
        futex(&event->count, FUTEX_WAKE, INT_MAX);
}
