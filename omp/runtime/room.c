/* SPDX-License-Identifier: BSD-3-Clause */
/* The rooms of the team lie in a list in shared memory. A room of a team of one
 * thread is in no list. */
#include "omp/runtime/room.h"

#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/team.h"

static struct room *new_room(uint64_t number, size_t bytes)
{
    const size_t all = sizeof(struct room) + bytes;
    struct room *room = memory_aligned_alloc(_Alignof(struct room), all);
    if (!room)
        fail(FAILED, "out of memory for what threads share in a construct");
    memset(room, 0, all);
    room->number = number;
    return room;
}

struct room *room_enter(struct thread *t, size_t bytes)
{
    struct shared_rooms *all = &shared_words->rooms;
    struct room *room;
    const uint64_t number = t->rooms++;
    if (t->team->threads == 1)
        return new_room(number, bytes);
    memory_lock(&all->lock);
    for (room = all->first; room && room->number != number; room = room->next)
        ;
    if (!room) {
        room = new_room(number, bytes);
        room->next = all->first;
        all->first = room;
    }
    memory_unlock(&all->lock);
    return room;
}

static void unlink_room(struct room **first, struct room *room)
{
    while (*first != room)
        first = &(*first)->next;
    *first = room->next;
}

void room_leave(struct thread *t, struct room *room)
{
    struct shared_rooms *all = &shared_words->rooms;
    bool is_last = true;
    if (!room)
        return;
    if (t->team->threads > 1) {
        memory_lock(&all->lock);
        is_last = ++room->left == t->team->threads;
        if (is_last)
            unlink_room(&all->first, room);
        memory_unlock(&all->lock);
    }
    if (is_last)
        memory_free(room);
}
