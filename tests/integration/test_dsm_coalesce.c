/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings run out, and all pages are made one mapping, while another rank
 * fetches a page or has not yet read a pack. */
#include <errno.h>
#include <pthread.h>

#include "dsm_scene.h"

static _Atomic enum step { NONE, STOPPED, FETCHED, SEEN } * step;

/* Of the rank that runs out of mappings. */
static _Atomic enum { REST, REFUSE, COALESCE, FLUSH, ONCE } next;
static volatile unsigned char *written;

static bool covers(const char *start, size_t bytes)
{
    return (uintptr_t)written - (uintptr_t)start < bytes;
}

STAND_IN int mprotect(void *start, size_t bytes, int protection)
{
    if (next == REFUSE || next == ONCE) {
        next = next == REFUSE ? COALESCE : REST;
        errno = ENOMEM;
        return -1;
    }
    if (next == COALESCE && protection == PROT_NONE && covers(start, bytes)) {
        next = REST;
        *step = STOPPED;
        check_within(60, *step == FETCHED);
        *written = 2; /* as another thread could */
    }
    if (next == FLUSH && protection == PROT_READ && covers(start, bytes))
        next = REST;
    return real(mprotect)(start, bytes, protection);
}

/* Its home may have written an exclusive page after another rank has fetched
 * it: that is announced. */
static void fetched_meanwhile(struct rank *r)
{
    const ddsm_place_t first = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    const ddsm_place_t second = {
        .homes = DDSM_ONE, .rank = 1, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, 4096, &first);
    void *other = ddsm_alloc(d, 4096, &second);
    ok(d, ddsm_barrier(d));
    if (r->rank == 0) {
        *p = 1;
        written = p;
        next = REFUSE;
        ok(d, ddsm_prefetch(d, other, 1, false));
        check(*step == FETCHED);
    } else {
        check_within(60, *step == STOPPED);
        check(*p == 1);
        *step = FETCHED;
    }
    ok(d, ddsm_barrier(d));
    check(*p == 2);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* A page that lost its protection so is soon written without faults again. */
static void exclusive_again(struct rank *r)
{
    const ddsm_place_t first = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    const ddsm_place_t second = {.homes = DDSM_ONE, .rank = 1};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, 4096, &first);
    volatile unsigned char *other = ddsm_alloc(d, 4096, &second);
    ddsm_stats_t s;
    if (r->rank)
        *other = 1;
    ok(d, ddsm_barrier(d));
    for (unsigned i = 1; i <= 10; i++) {
        if (i == 1 || i == 4 || i == 7)
            ddsm_stats_reset(d);
        if (i == 4 && r->rank == 0) {
            next = ONCE;
            ok(d, ddsm_prefetch(d, (void *)(uintptr_t)other, 1, false));
            check(next == REST && *other == 1);
        }
        if (r->rank == 0)
            *p = (unsigned char)i;
        ok(d, ddsm_barrier(d));
        ddsm_stats(d, &s);
        check((s.write_faults > 0) == (r->rank == 0 && i >= 4 && i < 7));
    }
    check(*p == 10);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

enum { BYTES = 4096, STEP = 3 };

static void *read_in_barrier(void *other)
{
    check_within(60, next == REST); /* the barrier protects the page */
    next = ONCE;
    check(*(volatile unsigned char *)other == 9);
    for (size_t i = 0; i < BYTES; i++)
        check(written[i] == (i % STEP ? 0 : 7));
    *step = SEEN;
    return NULL;
}

/* A rank has packed its changes, which are not home yet. Its other thread reads
 * the page, which has just lost its protection. */
static void packed_meanwhile(struct rank *r)
{
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, 2 * BYTES, &at);
    pthread_t reader;
    if (r->rank == 0)
        p[BYTES] = 9;
    ok(d, ddsm_barrier(d));
    if (r->rank == 1) {
        for (size_t i = 0; i < BYTES; i += STEP)
            p[i] = 7;
        written = p;
        next = FLUSH;
        check(!pthread_create(&reader, NULL, read_in_barrier,
                              (void *)(p + BYTES)));
    } else {
        check_within(60, *step == SEEN);
    }
    ok(d, ddsm_barrier(d));
    if (r->rank == 1)
        pthread_join(reader, NULL);
    for (size_t i = 0; i < BYTES; i++)
        check(p[i] == (i % STEP ? 0 : 7));
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    check((r->rank == 1) == (s.packed_bytes > 0));
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

static const struct test tests[] = {
    {"fetched meanwhile", 2, fetched_meanwhile, NULL, APART},
    {"exclusive again", 2, exclusive_again, NULL, APART},
    {"packed meanwhile", 2, packed_meanwhile, NULL, APART},
};

RUN_TESTS_AFTER(step = shared_memory(sizeof *step), 1, tests)
