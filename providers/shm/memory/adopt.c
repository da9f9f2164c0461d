/* SPDX-License-Identifier: BSD-3-Clause */
#include "providers/shm/memory/adopt.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "providers/core/core.h"
#include "providers/shm/memory/mapping.h"
#include "providers/shm/memory/share_pages.h"

/* Each takes a descriptor, and three of the mappings that a process may have
 * (vm.max_map_count), which the consumer's allocator needs, too. */
#define AREAS_MAX 1024
/* Of its stack, a call uses less below it. */
#define STACK_BELOW 65536
#define STACK_ABOVE 4096

/* Pages in a memfd. */
struct area {
    struct shm_shared_pages pages;
    bool partly_back; /* moving them back has failed: it is tried again */
};

/* The areas are not of the heap: it may lie in one of them, and a forked child
 * does not have it then. */
static struct {
    pthread_mutex_t lock;
    struct shm_range *ranges;
    struct area areas[AREAS_MAX];
    unsigned area_count;
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void forked(void)
{
    shm_sharing_forked();
    while (here.area_count)
        shm_shared_pages_forked(&here.areas[--here.area_count].pages);
}

/* Whether or not an IA is open then: areas may be left when all are closed. */
__attribute__((constructor)) static void prepare_forks(void)
{
    core_fork_hold(&here.lock);
    pthread_atfork(NULL, NULL, forked);
}

static bool overlap(uint64_t a, uint64_t a_length, uint64_t b,
                    uint64_t b_length)
{
    return a < b + b_length && b < a + a_length;
}

static bool in_a_range(uint64_t base, uint64_t length)
{
    for (const struct shm_range *r = here.ranges; r; r = r->next)
        if (overlap(base, length, r->base, r->length))
            return true;
    return false;
}

static bool in_an_area(uint64_t base, uint64_t length)
{
    for (unsigned i = 0; i < here.area_count; i++)
        if (overlap(base, length, here.areas[i].pages.base,
                    here.areas[i].pages.length))
            return true;
    return false;
}

/* ------------------------------------------------------------ adopting --- */

/* What this thread, and the kernel for it, need while pages are on their way:
 * stack, errno, and the C library's data of the thread. */
static bool holds_this_thread(uint64_t base, uint64_t length)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    return overlap(base, length, frame - STACK_BELOW,
                   STACK_BELOW + STACK_ABOVE) ||
           overlap(base, length, (uintptr_t)&errno, 1) ||
           overlap(base, length, (uintptr_t)pthread_self(), 4096);
}

/* All of it in one mapping of private memory? Not the stack, which grows. */
static bool is_plain(uint64_t base, uint64_t length)
{
    struct shm_vma v;
    int maps = shm_maps_open();
    bool plain = shm_vma_from(maps, base, &v) > 0 && v.start <= base &&
                 length <= v.end - base && !v.inode && !v.shared && !v.stack &&
                 v.prot == (PROT_READ | PROT_WRITE) &&
                 !holds_this_thread(base, length);
    if (maps >= 0)
        close(maps);
    return plain;
}

/* The consumer needs descriptors, too. */
static bool has_room(void)
{
    struct rlimit files;
    int next = dup(STDERR_FILENO);
    if (next >= 0)
        close(next);
    return here.area_count < AREAS_MAX && !getrlimit(RLIMIT_NOFILE, &files) &&
           next >= 0 && (rlim_t)next < files.rlim_cur / 2;
}

/* A range that overlaps another one stays as it is: peers may be using it by
 * system calls. Their atomic operations are not atomic to those of peers that
 * map it. Nothing of the heap is used while pages are on their way: the heap
 * may be in the range. */
static void adopt(const struct shm_range *r)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t base = (r->base + page - 1) & -page;
    uint64_t end = (r->base + r->length) & -page;
    if (base >= end || in_a_range(r->base, r->length) ||
        in_an_area(r->base, r->length) || !is_plain(base, end - base) ||
        !has_room())
        return;
    struct shm_shared_pages pages;
    int moved = shm_share_pages(&pages, base, end - base);
    if (moved >= 0)
        here.areas[here.area_count++] = (struct area){pages, moved > 0};
}

/* The part of a range that an area holds. The consumer may have mapped
 * something else there. */
static bool part_in(const struct area *a, const struct shm_range *r,
                    struct shm_adopted_part *part)
{
    const struct shm_shared_pages *p = &a->pages;
    uint64_t end = r->base + r->length, area_end = p->base + p->length;
    uint64_t from = r->base > p->base ? r->base : p->base;
    uint64_t to = end < area_end ? end : area_end;
    if (a->partly_back || from >= to || from - r->base > UINT32_MAX ||
        end - to > UINT32_MAX || !shm_pages_are_shared(p, from, to))
        return false;
    *part = (struct shm_adopted_part){.fd = p->fd,
                                      .inode = p->inode,
                                      .offset = from - p->base,
                                      .head = (uint32_t)(from - r->base),
                                      .tail = (uint32_t)(end - to)};
    return true;
}

/* ---------------------------------------------------------- giving back --- */

/* Moves pages back that were in this range, and those that could not be moved
 * back before, if they are in no range any more. */
static void give_back(const struct shm_range *r)
{
    for (unsigned i = 0; i < here.area_count;) {
        struct area *a = &here.areas[i];
        uint64_t base = a->pages.base, length = a->pages.length;
        bool unused =
            (a->partly_back || overlap(base, length, r->base, r->length)) &&
            !in_a_range(base, length);
        if (unused)
            a->partly_back = shm_unshare_pages(&a->pages) != 0;
        if (unused && !a->partly_back)
            *a = here.areas[--here.area_count];
        else
            i++;
    }
}

/* -------------------------------------------------------------- ranges --- */

bool shm_range_add(struct shm_range *range, bool wanted,
                   struct shm_adopted_part *part)
{
    bool found = false;
    pthread_mutex_lock(&here.lock);
    give_back(range);
    if (wanted)
        adopt(range);
    for (unsigned i = 0; i < here.area_count && !found; i++)
        found = part_in(&here.areas[i], range, part);
    range->at = &here.ranges;
    range->next = here.ranges;
    if (range->next)
        range->next->at = &range->next;
    here.ranges = range;
    pthread_mutex_unlock(&here.lock);
    return found;
}

void shm_range_remove(struct shm_range *range)
{
    pthread_mutex_lock(&here.lock);
    *range->at = range->next;
    if (range->next)
        range->next->at = range->at;
    give_back(range);
    pthread_mutex_unlock(&here.lock);
}

bool shm_adopt_possible(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *why = shm_share_refused();
    if (why && !atomic_flag_test_and_set(&told))
        fprintf(stderr, "dapl shm: adopt=1 has no effect: %s\n", why);
    return !why;
}
