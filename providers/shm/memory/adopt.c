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

/* Each area takes a descriptor and three mappings. A process may have only so
 * many mappings (vm.max_map_count), and its allocator needs some, too. */
#define AREAS_MAX 1024
/* Bytes of its stack, below and above the present frame, that this thread may
 * use while it moves pages. */
#define STACK_BELOW 65536
#define STACK_ABOVE 4096

/* Pages in a memfd. */
struct area {
    struct shm_shared_pages pages;
    bool partly_back; /* give_back() has failed, and tries again */
};

/* An array outside the heap: an area may hold part of the heap, which a forked
 * child then does not have. */
static struct {
    pthread_mutex_t lock;
    LIST_HEAD(, shm_range) ranges;
    struct area areas[AREAS_MAX];
    unsigned area_count;
} here = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void forked(void)
{
    shm_sharing_forked();
    while (here.area_count)
        shm_shared_pages_forked(&here.areas[--here.area_count].pages);
}

/* When the library is loaded, not when an IA opens: areas may outlive the last
 * open IA. */
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
    for (const struct shm_range *r = LIST_FIRST(&here.ranges); r;
         r = LIST_NEXT(r, entry))
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

/* While pages are on their way, this thread, and the kernel for it, need its
 * stack, errno, and the C library's data of the thread. */
static bool holds_this_thread(uint64_t base, uint64_t length)
{
    uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    return overlap(base, length, frame - STACK_BELOW,
                   STACK_BELOW + STACK_ABOVE) ||
           overlap(base, length, (uintptr_t)&errno, 1) ||
           overlap(base, length, (uintptr_t)pthread_self(), 4096);
}

/* Is all of it in one mapping of private memory, and not in the stack, which
 * grows? */
static bool is_plain(uint64_t base, uint64_t length)
{
    struct shm_vma v;
    int maps = shm_maps_open();
    bool plain =
        shm_vma_from(maps, base, &v) > 0 && shm_vma_covers(&v, base, length) &&
        !v.inode && !v.shared && v.prot == (PROT_READ | PROT_WRITE) &&
        !shm_vma_is_stack(maps, base) && !holds_this_thread(base, length);
    if (maps >= 0)
        close(maps);
    return plain;
}

/* Half of the process's descriptors are left to the consumer. */
static bool has_room(void)
{
    struct rlimit files;
    int next = dup(STDERR_FILENO);
    if (next >= 0)
        close(next);
    return here.area_count < AREAS_MAX && !getrlimit(RLIMIT_NOFILE, &files) &&
           next >= 0 && (rlim_t)next < files.rlim_cur / 2;
}

/* The pages of a range that overlaps another range stay in their place: peers
 * may be accessing them by system calls. An atomic operation by system calls is
 * not atomic to one of a peer that maps the word. While pages are on their way,
 * this thread must not use the heap: the range may hold part of it. */
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

/* Does this area hold a part of the range? No, if the consumer has mapped other
 * memory there since. */
static bool part_in(const struct area *a, const struct shm_range *r,
                    struct shm_file_part *part)
{
    const struct shm_shared_pages *p = &a->pages;
    uint64_t end = r->base + r->length, area_end = p->base + p->length;
    uint64_t from = r->base > p->base ? r->base : p->base;
    uint64_t to = end < area_end ? end : area_end;
    if (a->partly_back || from >= to || from - r->base > UINT32_MAX ||
        end - to > UINT32_MAX || !shm_pages_are_shared(p, from, to))
        return false;
    *part = (struct shm_file_part){.fd = p->fd,
                                   .inode = p->inode,
                                   .offset = from - p->base,
                                   .head = (uint32_t)(from - r->base),
                                   .tail = (uint32_t)(end - to)};
    return true;
}

/* ---------------------------------------------------------- giving back --- */

/* Moves back the areas that no range overlaps any more. Looks only at areas
 * that this range overlapped, and at those that an earlier call could not move
 * back. */
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
                   struct shm_file_part *part)
{
    bool found = false;
    pthread_mutex_lock(&here.lock);
    give_back(range);
    if (wanted)
        adopt(range);
    for (unsigned i = 0; i < here.area_count && !found; i++)
        found = part_in(&here.areas[i], range, part);
    LIST_INSERT_HEAD(&here.ranges, range, entry);
    pthread_mutex_unlock(&here.lock);
    return found;
}

void shm_range_remove(struct shm_range *range)
{
    pthread_mutex_lock(&here.lock);
    LIST_REMOVE(range, entry);
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
