/* SPDX-License-Identifier: BSD-3-Clause */
/* Mappings run out, all pages are made one mapping, and another rank fetches a
 * page meanwhile. */
#include <errno.h>

#include "dsm_scene.h"

static _Atomic enum step { NONE, STOPPED, FETCHED } * step;

/* Of the rank that runs out of mappings. */
static enum { REST, REFUSE, COALESCE } next;
static volatile unsigned char *written;

static bool covers(const char *start, size_t bytes)
{
    return (uintptr_t)written - (uintptr_t)start < bytes;
}

STAND_IN int mprotect(void *start, size_t bytes, int protection)
{
    if (next == REFUSE) {
        next = COALESCE;
        errno = ENOMEM;
        return -1;
    }
    if (next == COALESCE && protection == PROT_NONE && covers(start, bytes)) {
        next = REST;
        *step = STOPPED;
        check_within(60, *step == FETCHED);
        *written = 2; /* as another thread could */
    }
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

static const struct test tests[] = {
    {"fetched meanwhile", 2, fetched_meanwhile, NULL, APART},
};

RUN_TESTS_AFTER(step = shared_memory(sizeof *step), 1, tests)
