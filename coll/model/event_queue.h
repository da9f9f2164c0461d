/* SPDX-License-Identifier: BSD-3-Clause */
/* Events ordered by time; events of the same time in the order of adding. */
#ifndef DCOLL_EVENT_QUEUE_H
#define DCOLL_EVENT_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
    double time;
    uint64_t order; /* set by the queue */
    unsigned kind, what;
};

struct event_queue {
    struct event *heap;
    size_t count, capacity;
    uint64_t added;
};

/* false: out of memory. */
bool event_add(struct event_queue *queue, double time, unsigned kind,
               unsigned what);
/* Takes the first event. false: there is none. */
bool event_next(struct event_queue *queue, struct event *event);
void event_queue_free(struct event_queue *queue);

#endif
