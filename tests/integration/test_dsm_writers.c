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

struct home {
    const volatile void *page;
    unsigned rank;
};

static void note_home(const ddsm_page_cost_t *cost, void *context)
{
    struct home *home = context;
    if (cost->start == home->page)
        home->rank = cost->home;
}

/* A page that has cost this rank nothing yet is at rank 0. */
static unsigned home_of(ddsm_t *d, const volatile void *page)
{
    struct home home = {.page = page};
    ddsm_page_costs(d, note_home, &home);
    return home.rank;
}

/* Two ranks write a page in turns, an interval each, and release many times:
 * the page's home comes to rest. */
static void released_in_turns(struct rank *r)
{
    enum { RELEASES = 70, BARRIERS = 100, MOVES = 7 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 16, 0);
    volatile unsigned *p = ddsm_alloc(d, PAGE, &at);
    unsigned moves = 0, home = 0;
    for (unsigned i = 1; i <= BARRIERS; i++) {
        for (unsigned k = 0; k < RELEASES && i % 2 == r->rank; k++) {
            ++*p;
            ok(d, ddsm_release(d));
        }
        ok(d, ddsm_barrier(d));
        check(*p == i * RELEASES);
        ok(d, ddsm_barrier(d));
        const unsigned now = home_of(d, p);
        moves += now != home;
        home = now;
    }
    check(moves > 0 && moves <= MOVES);
    ddsm_close(d);
}

/* Ranks 1 and 2 write more separate pages than a rank may claim in a barrier,
 * and rank 1 alone writes a page above them: that page moves to it. */
static void contested(struct rank *r)
{
    enum { CONTESTED = 20, PAGES = 2 * CONTESTED + 1, BARRIERS = 8 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, PAGES * PAGE, &at);
    volatile unsigned char *high = p + (PAGES - 1) * PAGE;
    for (unsigned i = 1; i <= BARRIERS; i++) {
        for (unsigned page = 0; page < CONTESTED && r->rank; page++)
            p[2 * page * PAGE + r->rank] = (unsigned char)i;
        if (r->rank == 1)
            *high = (unsigned char)i;
        ok(d, ddsm_barrier(d));
        for (unsigned page = 0; page < CONTESTED; page++)
            check(p[2 * page * PAGE + 1] == i && p[2 * page * PAGE + 2] == i);
        ok(d, ddsm_barrier(d));
    }
    check(r->rank != 1 || home_of(d, high) == 1);
    check(*high == BARRIERS);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* Counts begin anew between two barriers; what this rank has written in this
 * interval stays known. */
static void counted_anew(struct rank *r)
{
    enum { PAGES = 64, ROUNDS = 4 };
    const ddsm_place_t at = {.homes = DDSM_ONE};
    ddsm_t *d = space(r, PAGES * PAGE, 0);
    volatile unsigned char *p = ddsm_alloc(d, PAGES * PAGE, &at);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        for (unsigned page = 0; page < PAGES; page++)
            p[page * PAGE + r->rank] = (unsigned char)i;
        ok(d, ddsm_release(d));
        ddsm_stats_reset(d);
    }
    ok(d, ddsm_barrier(d));
    check(stats(d).shared_writes >= PAGES);
    for (unsigned page = 0; page < PAGES; page++)
        check(p[page * PAGE + 1 - r->rank] == ROUNDS);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

static const struct test tests[] = {
    {"drawn, two ranks", 2, drawn, NULL, APART},
    {"drawn, three ranks", 3, drawn, NULL, APART},
    {"drawn, four ranks", 4, drawn, NULL, APART},
    {"released", 2, released, NULL, APART},
    {"released in turns", 2, released_in_turns, NULL, APART},
    {"contested", 3, contested, NULL, APART},
    {"counted anew", 2, counted_anew, NULL, APART},
};

RUN_TESTS(tests)
