/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap. */
#include <stdlib.h>

#include "event_queue.h"

static bool before(const struct event *a, const struct event *b)
{
    return a->time < b->time || (a->time == b->time && a->order < b->order);
}

bool event_add(struct event_queue *queue, double time, unsigned kind,
               unsigned what)
{
    struct event event = {time, queue->added++, kind, what};
    if (queue->count == queue->capacity) {
        size_t capacity = queue->capacity ? 2 * queue->capacity : 64;
        struct event *heap = realloc(queue->heap, capacity * sizeof *heap);
        if (!heap)
            return false;
        queue->heap = heap;
        queue->capacity = capacity;
    }
    size_t i = queue->count++;
    for (; i && before(&event, &queue->heap[(i - 1) / 2]); i = (i - 1) / 2)
        queue->heap[i] = queue->heap[(i - 1) / 2];
    queue->heap[i] = event;
    return true;
}

bool event_next(struct event_queue *queue, struct event *event)
{
    if (!queue->count)
        return false;
    *event = queue->heap[0];
    struct event last = queue->heap[--queue->count];
    size_t i = 0;
    for (size_t child = 1; child < queue->count; child = 2 * i + 1) {
        if (child + 1 < queue->count &&
            before(&queue->heap[child + 1], &queue->heap[child]))
            child++;
        if (!before(&queue->heap[child], &last))
            break;
        queue->heap[i] = queue->heap[child];
        i = child;
    }
    queue->heap[i] = last;
    return true;
}

void event_queue_free(struct event_queue *queue)
{
    free(queue->heap);
}
