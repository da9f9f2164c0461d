/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for another thread of the rank. */
#ifndef OMP_RUNTIME_SLEEP_H
#define OMP_RUNTIME_SLEEP_H

#include <stdatomic.h>
#include <stdint.h>

/* A number that only grows, and the threads that wait for it. */
struct event {
    _Atomic uint32_t count;
    _Atomic uint32_t sleepers;
};

/* Returns when the count is no longer @seen. */
void event_wait(struct event *event, uint32_t seen);
void event_signal(struct event *event);

#endif
