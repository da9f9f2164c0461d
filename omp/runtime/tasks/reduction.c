/* SPDX-License-Identifier: BSD-3-Clause */
#include "omp/runtime/tasks/reduction.h"

#include <stddef.h>
#include <string.h>

#include "omp/runtime/fail.h"
#include "omp/runtime/memory.h"
#include "omp/runtime/room.h"
#include "omp/runtime/tasks/pool.h"
#include "omp/runtime/team.h"

#include "omp/runtime/interface.h"

/* Words of the compiler's array. */
enum {
    COUNT,  /* of variables */
    STRIDE, /* bytes of a thread's copies */
    START,  /* their alignment at first, then where thread 0's are */
    ALLOCATOR,
    OUTER, /* another array, whose variables these tasks may use, too; or 0 */
    INDEX, /* of the runtime; not used here */
    END,   /* of all copies */
    VARIABLES, /* each: its address, its offset in the copies, a word that is
                * not used here */
    WORDS_OF_VARIABLE = 3,
};

static uintptr_t *outer_of(const uintptr_t *array)
{
    return (uintptr_t *)array[OUTER];
}

static uintptr_t bytes_of(const uintptr_t *array, unsigned threads)
{
    return array[STRIDE] * threads;
}

/* Gives the copies of the arrays, up to the last one, memory: of @memory, or if
 * that is NULL, of the heap. The last one goes on with @outer. */
static void place(uintptr_t *array, unsigned threads, char *memory,
                  const uintptr_t *outer)
{
    for (;; array = outer_of(array)) {
        const uintptr_t bytes = bytes_of(array, threads);
        char *start = memory;
        if (!memory) {
            start = memory_aligned_alloc(array[START], bytes);
            if (!start)
                fail(FAILED, "out of memory for a reduction over tasks");
            memset(start, 0, bytes);
        } else {
            const uintptr_t at = (uintptr_t)memory, align = array[START];
            start += -at & (align - 1);
            memory = start + bytes;
        }
        array[START] = (uintptr_t)start;
        array[END] = array[START] + bytes;
        array[INDEX] = 0;
        if (!array[OUTER])
            break;
    }
    array[OUTER] = (uintptr_t)outer;
}

/* ------------------------------------------------------------ task groups */

void GOMP_taskgroup_reduction_register(uintptr_t *array)
{
    struct thread *t = self();
    struct task_group *group = t->task->group;
    place(array, t->team->threads, NULL, group->reductions);
    group->reductions = array;
}

void GOMP_taskgroup_reduction_unregister(uintptr_t *array)
{
    memory_free((void *)array[START]);
}

void reduction_begin_region(uintptr_t *reductions, unsigned threads)
{
    place(reductions, threads, NULL, NULL);
}

/* ------------------------------------------------- worksharing constructs */

static size_t bytes_of_all(const uintptr_t *array, unsigned threads)
{
    size_t bytes = 0;
    for (; array; array = outer_of(array))
        bytes += bytes_of(array, threads) + array[START];
    return bytes;
}

void reduction_begin_shared(struct thread *t, uintptr_t *reductions)
{
    const unsigned threads = t->team->threads;
    if (!reductions)
        return;
    task_begin_group(t);
    struct task_group *group = t->task->group;
    group->room = room_enter(t, bytes_of_all(reductions, threads));
    place(reductions, threads, group->room->memory, group->reductions);
    group->reductions = reductions;
}

void GOMP_scope_start(uintptr_t *reductions)
{
    reduction_begin_shared(self(), reductions);
}

void GOMP_workshare_task_reduction_unregister(bool is_cancelled)
{
    struct thread *t = self();
    struct room *room = t->task->group->room;
    (void)is_cancelled; /* cancel.c */
    task_end_group(t);
    room_leave(t, room);
    team_barrier(SITE);
}

/* ------------------------------------------------------------------ tasks */

static const uintptr_t *variable(const uintptr_t *array, size_t i)
{
    return array + VARIABLES + WORDS_OF_VARIABLE * i;
}

/* Is @address the variable, or in the copies that some thread has of it? */
static bool is_of(const uintptr_t *array, size_t i, uintptr_t address)
{
    const uintptr_t *v = variable(array, i);
    return address == v[0] ||
           (address >= array[START] && address < array[END] &&
            (address - array[START]) % array[STRIDE] == v[1]);
}

/* Makes *@address that of the thread's own copy; returns the variable. */
static void *remap(const struct thread *t, void **address)
{
    const uintptr_t at = (uintptr_t)*address;
    const uintptr_t *array = t->task->group ? t->task->group->reductions : NULL;
    for (; array; array = outer_of(array))
        for (size_t i = 0; i < array[COUNT]; i++)
            if (is_of(array, i, at)) {
                *address = (char *)array[START] + array[STRIDE] * t->id +
                           variable(array, i)[1];
                return (void *)variable(array, i)[0];
            }
    fail(FAILED, "in_reduction of a variable that no task group, or other "
                 "construct around the task, reduces");
}

/* The first @count addresses become those of this thread's copies; the
 * variables of the first @originals of them come behind these. */
void GOMP_task_reduction_remap(size_t count, size_t originals, void **addresses)
{
    const struct thread *t = self();
    for (size_t i = 0; i < count; i++) {
        void *original = remap(t, &addresses[i]);
        if (i < originals)
            addresses[count + i] = original;
    }
}
