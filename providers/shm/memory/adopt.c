/* SPDX-License-Identifier: BSD-3-Clause */
#include "providers/shm/memory/adopt.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "providers/core/core.h"
#include "providers/shm/memory/mapping.h"
#include "providers/shm/memory/share_pages.h"

/* Each takes a descriptor, and three of the mappings that a process may have
 * (vm.max_map_count), which the consumer's allocator needs, too. */
#define AREAS_MAX 1024

/* Pages in a memfd. */
struct area {
    struct area *next;
    struct shm_shared_pages pages;
    bool partly_back; /* moving them back has failed */
};

static struct {
    pthread_mutex_t lock;
    struct shm_range *ranges;
    struct area *areas;
    unsigned area_count;
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

__attribute__((constructor)) static void hold_at_fork(void)
{
    core_fork_hold(&here.lock);
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
    for (const struct area *a = here.areas; a; a = a->next)
        if (overlap(base, length, a->pages.base, a->pages.length))
            return true;
    return false;
}

/* ------------------------------------------------------------ adopting --- */

/* All of it in one mapping of private memory? Not the stack, which grows; nor
 * the whole heap, nor what this thread needs while the pages are on their way.
 */
static bool is_plain(uint64_t base, uint64_t length, const void *in_heap)
{
    struct shm_vma v;
    uintptr_t in_stack = (uintptr_t)__builtin_frame_address(0);
    return shm_vma_from(base, &v) > 0 && v.start <= base &&
           length <= v.end - base && !v.inode && !v.shared && !v.stack &&
           v.prot == (PROT_READ | PROT_WRITE) &&
           !overlap(base, length, in_stack, 1) &&
           !overlap(base, length, (uintptr_t)&errno, 1) &&
           !overlap(base, length, (uintptr_t)in_heap, 1);
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
 * map it. */
static void adopt(const struct shm_range *r)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t base = (r->base + page - 1) & -page;
    uint64_t end = (r->base + r->length) & -page;
    if (base >= end || in_a_range(r->base, r->length) ||
        in_an_area(r->base, r->length) || !is_plain(base, end - base, r) ||
        !has_room())
        return;
    struct area *a = calloc(1, sizeof *a);
    if (!a || shm_share_pages(&a->pages, base, end - base)) {
        free(a);
        return;
    }
    a->next = here.areas;
    here.areas = a;
    here.area_count++;
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
    struct shm_mapping m;
    if (a->partly_back || from >= to || from - r->base > UINT32_MAX ||
        end - to > UINT32_MAX || !shm_mapping_find(from, to - from, &m) ||
        m.inode != p->inode || m.device != p->device ||
        m.offset != from - p->base)
        return false;
    *part = (struct shm_adopted_part){.fd = p->fd,
                                      .inode = p->inode,
                                      .offset = from - p->base,
                                      .head = (uint32_t)(from - r->base),
                                      .tail = (uint32_t)(end - to)};
    return true;
}

bool shm_range_add(struct shm_range *range, bool wanted,
                   struct shm_adopted_part *part)
{
    bool found = false;
    pthread_mutex_lock(&here.lock);
    if (wanted)
        adopt(range);
    for (struct area *a = here.areas; a && !found; a = a->next)
        found = part_in(a, range, part);
    range->at = &here.ranges;
    range->next = here.ranges;
    if (range->next)
        range->next->at = &range->next;
    here.ranges = range;
    pthread_mutex_unlock(&here.lock);
    return found;
}

/* ---------------------------------------------------------- giving back --- */

/* Moves pages back that were in this range, and are in no range any more. */
static void give_back(const struct shm_range *r)
{
    for (struct area **at = &here.areas, *a; (a = *at);) {
        uint64_t base = a->pages.base, length = a->pages.length;
        bool unused = overlap(base, length, r->base, r->length) &&
                      !in_a_range(base, length);
        if (unused)
            a->partly_back = shm_unshare_pages(&a->pages) != 0;
        if (unused && !a->partly_back) {
            *at = a->next;
            free(a);
            here.area_count--;
        } else {
            at = &a->next;
        }
    }
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

void shm_adopted_forked(void)
{
    for (const struct area *a = here.areas; a; a = a->next)
        shm_shared_pages_forked(&a->pages);
}

bool shm_adopt_possible(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    const char *why = shm_share_refused();
    if (why && !atomic_flag_test_and_set(&told))
        fprintf(stderr, "dapl shm: adopt=1 has no effect: %s\n", why);
    return !why;
}
