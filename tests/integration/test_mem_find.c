/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles of memory of which only the address is known. */
#include "memory.h"

enum { BYTES = 8192, FROM = 1000, PART = 500 };

static void within(struct rank *r)
{
    struct memory m;
    drail_key_t key;
    drail_cache_stats_t before, after;
    memory_open(r, &m, BYTES);
    drail_cache_stats(r->t, &before);
    drail_mem_t *part =
        drail_mem_find(r->t, m.bytes + FROM, PART, DRAIL_ACCESS_REMOTE_READ);
    drail_cache_stats(r->t, &after);
    check(part != NULL);
    check(before.misses == after.misses); /* nothing was registered */
    drail_mem_key(part, &key);
    check(key.address == (uintptr_t)m.bytes + FROM && key.bytes == PART);
    memory_close(r, &m);
    m.bytes[FROM] = 1; /* it is held still */
    expect(r, 0, drail_mem_release(part));
}

/* Flags that drail_mem_alloc takes say nothing of what peers may do. */
static void as_allocated(struct rank *r)
{
    const unsigned access = DRAIL_ACCESS_REMOTE_READ | DRAIL_ACCESS_KEEP;
    void *at;
    drail_mem_t *mem, *found;
    expect(r, 0, drail_mem_alloc(r->t, BYTES, access, &at, &mem));
    found = drail_mem_find(r->t, at, BYTES, access);
    check(found != NULL);
    expect(r, 0, drail_mem_release(found));
    expect(r, 0, drail_mem_release(mem));
}

/* What is found depends on the handles that are held, in whichever order they
 * are released. */
static void first_released(struct rank *r)
{
    const unsigned read = DRAIL_ACCESS_REMOTE_READ;
    void *at;
    drail_key_t key;
    drail_mem_t *whole, *part, *found;
    expect(r, 0, drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_ALL, &at, &whole));
    part = drail_mem_find(r->t, (char *)at + FROM, PART, read);
    check(part != NULL);
    expect(r, 0, drail_mem_release(whole));
    found = drail_mem_find(r->t, (char *)at + FROM + 1, PART - 1, read);
    check(found != NULL);
    drail_mem_key(found, &key);
    check(key.address == (uintptr_t)at + FROM + 1 && key.bytes == PART - 1);
    check(!drail_mem_find(r->t, (char *)at + FROM, PART + 1, read));
    check(!drail_mem_find(r->t, at, BYTES, read));
    check(!drail_mem_find(r->t, (char *)at + FROM, PART, DRAIL_ACCESS_ALL));
    expect(r, 0, drail_mem_release(part));
    check(!drail_mem_find(r->t, (char *)at + FROM, 1, read));
    expect(r, 0, drail_mem_release(found));
}

static void nothing_there(struct rank *r)
{
    static unsigned char others[BYTES];
    const unsigned read = DRAIL_ACCESS_REMOTE_READ;
    void *at;
    drail_mem_t *local, *registered;
    expect(r, 0, drail_mem_alloc(r->t, BYTES, DRAIL_ACCESS_LOCAL, &at, &local));
    expect(r, 0, drail_mem_register(r->t, others, BYTES, read, &registered));
    check(!drail_mem_find(r->t, at, BYTES, read));
    check(!drail_mem_find(r->t, at, BYTES + 1, 0));
    check(!drail_mem_find(r->t, (char *)at - 1, 2, 0));
    check(!drail_mem_find(r->t, at, 0, 0));
    check(!drail_mem_find(r->t, others, BYTES, 0));
    check(!drail_mem_find(NULL, at, BYTES, 0));
    expect(r, 0, drail_mem_release(registered));
    expect(r, 0, drail_mem_release(local));
    check(!drail_mem_find(r->t, at, BYTES, 0));
}

static const struct test tests[] = {
    {"within", 2, within, NULL, 0},
    {"as it was allocated", 1, as_allocated, NULL, 0},
    {"the first handle is released", 1, first_released, NULL, 0},
    {"nothing there", 1, nothing_there, NULL, 0},
};

RUN_TESTS(tests)
