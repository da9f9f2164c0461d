/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory without contents: ranges of addresses that do not overlap, in a tree.
 * Actors run in turn, so no lock is needed. */
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "world.h"

/* Pages of so many ranges are protected from access. The system allows a
 * process 65530 maps, of which stacks and buffers need some. */
#define PROTECTED_MOST 16384u

struct range {
    uintptr_t begin, end;
    bool is_protected;
};

static struct {
    void *ranges; /* of tsearch */
    unsigned protected;
} hollow;

/* Ranges that overlap compare as equal. */
static int compare(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->end <= y->begin ? -1 : y->end <= x->begin;
}

/* The whole pages within a range; the others hold contents of other memory,
 * too. */
static bool protect(const struct range *r, int access)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (r->begin + page - 1) / page * page;
    uintptr_t end = r->end / page * page;
    return begin < end && !mprotect((void *)begin, end - begin, access);
}

static int insert(struct range found)
{
    struct range *r = malloc(sizeof *r);
    if (!r)
        return -1;
    *r = found;
    struct range *const *at = tsearch(r, &hollow.ranges, compare);
    if (!at || *at != r) {
        free(r);
        return -1;
    }
    r->is_protected =
        hollow.protected < PROTECTED_MOST && protect(r, PROT_NONE);
    hollow.protected += r->is_protected;
    return 0;
}

/* Finds a marked range that contains these bytes; a partly marked range counts
 * as not marked. */
static int erase(struct range found)
{
    struct range *const *at = tfind(&found, &hollow.ranges, compare);
    struct range *r = at ? *at : NULL;
    if (!r || r->begin != found.begin || r->end != found.end)
        return 0;
    bool open = !r->is_protected || protect(r, PROT_READ | PROT_WRITE);
    hollow.protected -= r->is_protected;
    tdelete(r, &hollow.ranges, compare);
    free(r);
    return open ? 0 : -1;
}

int sim_hollow(const void *address, size_t bytes, bool on)
{
    uintptr_t begin = (uintptr_t)address;
    struct range range = {begin, begin + bytes, false};
    return on ? insert(range) : erase(range);
}

static bool is_hollow(const void *address)
{
    uintptr_t begin = (uintptr_t)address;
    struct range range = {begin, begin + 1, false};
    return tfind(&range, &hollow.ranges, compare);
}

void *sim_move(void *to, const void *from, size_t bytes)
{
    if (hollow.ranges && (is_hollow(to) || is_hollow(from)))
        return to;
    return memcpy(to, from, bytes);
}
