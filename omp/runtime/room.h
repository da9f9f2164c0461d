/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a team's threads share while they run one construct, which each
 * of them meets. Constructs are counted in each thread, so a thread may be in a
 * later one (nowait) while others are still in this one.
 */
#ifndef OMP_RUNTIME_ROOM_H
#define OMP_RUNTIME_ROOM_H

#include <stddef.h>
#include <stdint.h>

struct thread;

struct room {
    struct room *next; /* in the list of all rooms */
    uint64_t number;   /* of the construct */
    uint64_t left;     /* threads that no longer use it */
    _Alignas(64) char memory[];
};

/* The thread's next construct that has a room: @bytes that are 0 when the first
 * thread comes. All threads ask for as many. */
struct room *room_enter(struct thread *t, size_t bytes);
/* The thread no longer uses it; NULL is allowed. */
void room_leave(struct thread *t, struct room *room);

#endif
