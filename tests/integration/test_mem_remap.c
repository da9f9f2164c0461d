/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that has gone, and other memory at its address: a registration of the
 * old one, which a part of it keeps alive, serves nobody there.
 */
#include "ranks.h"

#define PAGE  65536u /* on any machine a multiple of a page */
#define PAGES 8u

/* Does registering this need a registration of its own? */
static drail_mem_t *fresh(struct rank *r, unsigned char *at, unsigned access,
                          bool *is_fresh)
{
    drail_cache_stats_t before, after;
    drail_mem_t *mem;
    drail_cache_stats(r->t, &before);
    expect(r, 0, drail_mem_register(r->t, at, PAGE, access, &mem));
    drail_cache_stats(r->t, &after);
    *is_fresh = after.misses > before.misses;
    return mem;
}

static unsigned char *map(void *at, size_t bytes)
{
    void *memory =
        mmap(at, bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);
    check(memory != MAP_FAILED);
    return memory;
}

/* part: a handle of the first page, which outlives that of the whole. */
static void remap(struct rank *r, unsigned access, bool view)
{
    unsigned char *m = map(NULL, PAGES * PAGE);
    drail_mem_t *whole, *part, *again;
    bool is_fresh;
    expect(r, 0, drail_mem_register(r->t, m, PAGES * PAGE, access, &whole));
    if (view)
        expect(r, 0, drail_mem_view(whole, m, PAGE, &part));
    else
        part = fresh(r, m, access, &is_fresh);
    again = fresh(r, m + PAGE, DRAIL_ACCESS_LOCAL, &is_fresh);
    check(is_fresh == (access != DRAIL_ACCESS_LOCAL));
    expect(r, 0, drail_mem_release(again));

    expect(r, 0, drail_mem_release(whole));
    map(m + PAGE, (PAGES - 1) * PAGE);
    again = fresh(r, m + PAGE, DRAIL_ACCESS_LOCAL, &is_fresh);
    check(is_fresh);
    expect(r, 0, drail_mem_release(again));
    expect(r, 0, drail_mem_register(r->t, m, PAGES * PAGE, access, &whole));
    expect(r, 0, drail_mem_release(part));
    expect(r, 0, drail_mem_release(whole));
    munmap(m, PAGES * PAGE);
}

static void registered(struct rank *r)
{
    remap(r, DRAIL_ACCESS_LOCAL, false);
}

static void viewed(struct rank *r)
{
    remap(r, DRAIL_ACCESS_LOCAL, true);
}

/* The same range and rights again, of which a view is left. */
static void granted(struct rank *r)
{
    unsigned char *m = map(NULL, PAGE);
    drail_mem_t *whole, *part, *again;
    bool is_fresh;
    whole = fresh(r, m, DRAIL_ACCESS_REMOTE_WRITE, &is_fresh);
    expect(r, 0, drail_mem_view(whole, m, 64, &part));
    again = fresh(r, m, DRAIL_ACCESS_REMOTE_WRITE, &is_fresh);
    check(!is_fresh);
    expect(r, 0, drail_mem_release(whole));
    whole = fresh(r, m, DRAIL_ACCESS_REMOTE_WRITE, &is_fresh);
    check(!is_fresh); /* as the other one is there */
    expect(r, 0, drail_mem_release(whole));
    expect(r, 0, drail_mem_release(again));
    again = fresh(r, m, DRAIL_ACCESS_REMOTE_WRITE, &is_fresh);
    check(is_fresh);
    expect(r, 0, drail_mem_release(again));
    expect(r, 0, drail_mem_release(part));
    munmap(m, PAGE);
}

static const struct test tests[] = {
    {"a part that was registered", 1, registered, NULL, 0},
    {"a part that was viewed", 1, viewed, NULL, 0},
    {"a part of what peers reach", 1, granted, NULL, 0},
};

RUN_TESTS(tests)
