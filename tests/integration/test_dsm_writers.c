/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that several ranks write between the same two barriers, by turns, or
 * that one rank alone writes and releases. */
#include "dsm_scene.h"

enum { PAGE = 4096 };

static ddsm_stats_t stats(ddsm_t *d)
{
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    return s;
}

/* Does the rank write its byte of the page in that interval? */
static bool writes(unsigned rank, unsigned page, unsigned interval)
{
    const uint32_t word = (interval * 31 + page) * 2654435761u;
    /* pages with one writer, with two, and with any */
    return page % 3 == 0   ? page % 2 == rank
           : page % 3 == 1 ? rank < 2
                           : (word >> (8 + rank) & 1);
}

/* Ranks write and read by turns; intervals have names that come back, names
 * that do not, or none. */
static void drawn(struct rank *r)
{
    enum { PAGES = 60, INTERVALS = 240 };
    static unsigned char expected[PAGES][8];
    const ddsm_kind_t kind = r->size == 3 ? DDSM_FIXED : DDSM_MOVING;
    const ddsm_place_t at = {.homes = DDSM_CYCLIC, .kind = kind};
    ddsm_t *d = space(r, 1 << 20, r->size % 2 ? 0 : 8);
    volatile unsigned char *p = ddsm_alloc(d, PAGES * PAGE, &at);
    memset(expected, 0, sizeof expected);
    for (unsigned i = 1; i <= INTERVALS; i++) {
        for (unsigned page = 0; page < PAGES; page++) {
            if (writes(r->rank, page, i))
                p[page * PAGE + r->rank] = (unsigned char)i;
            for (unsigned k = 0; k < r->size; k++)
                if (writes(k, page, i))
                    expected[page][k] = (unsigned char)i;
        }
        ddsm_interval(d, i < 80 ? 1 + i % 2 : i < 160 ? 100 + i : 0);
        ok(d, ddsm_barrier(d));
        for (unsigned page = i % 3; page < PAGES; page += 3)
            for (unsigned k = 0; k < r->size; k++)
                check(p[page * PAGE + k] == expected[page][k]);
        ddsm_interval(d, i < 80 ? 3 : 0);
        ok(d, ddsm_barrier(d));
    }
    check(stats(d).shared_writes > 0);
    ddsm_close(d);
}

/* A rank alone writes pages, and releases what it has written: their homes come
 * to it in barriers, and then it writes without faults. */
static void released(struct rank *r)
{
    enum { PAGES = 50, RELEASES = 20, BARRIERS = 10 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, PAGES * PAGE, &at);
    uint64_t before = 0;
    for (unsigned i = 1; i <= BARRIERS; i++) {
        for (unsigned k = 1; k <= RELEASES && r->rank == 1; k++) {
            for (unsigned page = 0; page < PAGES; page++)
                p[page * PAGE] = (unsigned char)(i * RELEASES + k);
            ok(d, ddsm_release(d));
        }
        ok(d, ddsm_release(d));
        ok(d, ddsm_barrier(d));
        if (i == 2)
            before = stats(d).write_faults;
    }
    check(stats(d).write_faults == before);
    for (unsigned page = 0; page < PAGES; page++)
        check(p[page * PAGE] == (unsigned char)((BARRIERS + 1) * RELEASES));
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

static const struct test tests[] = {
    {"drawn, two ranks", 2, drawn, NULL, APART},
    {"drawn, three ranks", 3, drawn, NULL, APART},
    {"drawn, four ranks", 4, drawn, NULL, APART},
    {"released", 2, released, NULL, APART},
};

RUN_TESTS(tests)
