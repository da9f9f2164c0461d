/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that a rank uses under a lock are fetched when it takes the lock again
 * (dsm/pages/lock_history.h). */
#include "dsm_scene.h"

/* A set is each SETS-th page, so faults fetch none ahead. */
enum { PAGE = 4096, SETS = 4, USED = 30, PAGES = USED * SETS, ROUNDS = 64 };

struct scene {
    struct rank *r;
    ddsm_t *d;
    volatile uint64_t *words;
    unsigned round, lock;
};

static volatile bool reads; /* pages, just now */

/* A handler of signals that has interrupted the allocator may read pages (R9 of
 * ddsm.h), so their faults do not call it. Sanitizers replace it. */
#ifndef DRAIL_SANITIZE
void *__libc_realloc(void *old, size_t bytes);

STAND_IN void *realloc(void *old, size_t bytes)
{
    check(!reads);
    return __libc_realloc(old, bytes);
}
#endif

static struct scene begin(struct rank *r)
{
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    struct scene s = {.r = r, .d = space(r, 1 << 20, 0), .lock = 1};
    s.words = ddsm_alloc(s.d, PAGES * PAGE, &at);
    return s;
}

static volatile uint64_t *word_of(struct scene *s, unsigned page)
{
    return s->words + page * PAGE / sizeof *s->words;
}

static void read_set(struct scene *s, unsigned set)
{
    reads = true;
    for (unsigned p = set; p < PAGES; p += SETS)
        check(*word_of(s, p) == s->round);
    reads = false;
}

/* Rank 0 writes all sets, then rank 1 reads so many of them, from @first on.
 * All is in one interval, which has a name: so what rank 1 has at the begin of
 * the interval is old when it takes the lock. */
static void next_round(struct scene *s, unsigned first, unsigned sets)
{
    const unsigned round = ++s->round;
    if (s->r->rank)
        check_within(60, *ranks_outside == round);
    ok(s->d, ddsm_lock(s->d, s->lock));
    for (unsigned p = 0; p < PAGES && !s->r->rank; p++)
        *word_of(s, p) = round;
    for (unsigned i = 0; i < sets && s->r->rank; i++)
        read_set(s, (first + i) % SETS);
    ok(s->d, ddsm_unlock(s->d, s->lock));
    if (!s->r->rank)
        *ranks_outside = round;
    ddsm_interval(s->d, 1);
    ok(s->d, ddsm_barrier(s->d));
}

/* What rank 1 has done until now; at rank 0 all is 0. */
static ddsm_stats_t end(struct scene *s)
{
    ddsm_stats_t stats;
    ddsm_stats(s->d, &stats);
    if (s->r->rank)
        printf("# read faults %lu, fetched pages %lu, predicted %lu, used %lu, "
               "unpredicted %lu\n",
               (unsigned long)stats.read_faults,
               (unsigned long)stats.fetched_pages,
               (unsigned long)stats.predicted,
               (unsigned long)stats.predicted_used,
               (unsigned long)stats.unpredicted);
    else
        check(!stats.fetched_pages && !stats.predicted && !stats.unpredicted);
    ok(s->d, ddsm_barrier(s->d));
    *ranks_outside = 0;
    ddsm_close(s->d);
    return stats;
}

enum { TESTS = 4 };

static void same_pages(struct rank *r)
{
    struct scene s = begin(r);
    for (unsigned i = 0; i < ROUNDS; i++)
        next_round(&s, 0, 1);
    const ddsm_stats_t stats = end(&s);
    if (!r->rank)
        return;
    check(stats.read_faults == (1 + TESTS) * USED);
    check(stats.predicted == TESTS * USED && !stats.unpredicted);
    check(stats.predicted_used == stats.predicted);
}

/* Pages that are no longer used are forgotten, and others are kept. */
static void fewer_pages(struct rank *r)
{
    enum { WHOLE = 2, UNTIL_TEST = 16 };
    struct scene s = begin(r);
    for (unsigned i = 0; i < ROUNDS; i++)
        next_round(&s, 0, i < WHOLE ? 2 : 1);
    const ddsm_stats_t stats = end(&s);
    if (!r->rank)
        return;
    check(stats.fetched_pages == (ROUNDS + WHOLE + UNTIL_TEST) * USED);
    check(stats.read_faults == (2 * 2 + TESTS - 1) * USED);
}

/* If other pages are used each time, few are fetched in vain: by tests of the
 * lock, and, in its pauses, of the interval. */
static void other_pages(struct rank *r)
{
    struct scene s = begin(r);
    for (unsigned i = 0; i < ROUNDS; i++)
        next_round(&s, i % SETS, 1);
    const ddsm_stats_t stats = end(&s);
    if (r->rank)
        check(stats.fetched_pages <= (ROUNDS + 2 * TESTS) * USED);
}

/* Pages that rank 1 reads after it has given the lock back are recorded for the
 * interval, not for the lock. */
static void behind_the_lock(struct rank *r)
{
    struct scene s = begin(r);
    for (unsigned i = 0; i < ROUNDS; i++) {
        next_round(&s, 0, 1);
        if (r->rank)
            read_set(&s, 1);
        ok(s.d, ddsm_barrier(s.d));
    }
    const ddsm_stats_t stats = end(&s);
    if (!r->rank)
        return;
    check(stats.predicted > TESTS * USED);
    check(stats.read_faults < ROUNDS * USED);
}

/* If an interval begins while rank 1 holds a lock, the pages that it reads from
 * then on are recorded for the interval. */
static void in_later_intervals(struct rank *r)
{
    enum { ELSEWHERE = 2 }; /* a lock that rank 0 does not take */
    struct scene s = begin(r);
    if (r->rank)
        ok(s.d, ddsm_lock(s.d, ELSEWHERE));
    while (s.round++ < ROUNDS) {
        for (unsigned p = 0; p < PAGES && !r->rank; p += SETS)
            *word_of(&s, p) = s.round;
        ddsm_interval(s.d, 1);
        ok(s.d, ddsm_barrier(s.d));
        if (r->rank)
            read_set(&s, 0);
        ddsm_interval(s.d, 2);
        ok(s.d, ddsm_barrier(s.d));
    }
    if (r->rank)
        ok(s.d, ddsm_unlock(s.d, ELSEWHERE));
    const ddsm_stats_t stats = end(&s);
    if (!r->rank)
        return;
    check(stats.read_faults < ROUNDS / 2 * USED);
    check(stats.predicted_used > 0 && !stats.unpredicted);
}

/* Locks that are no longer taken leave room for others. */
static void many_locks(struct rank *r)
{
    enum { OTHERS = 59 };
    struct scene s = begin(r);
    for (s.lock = 1 + OTHERS; s.lock > 1; s.lock--)
        next_round(&s, 0, 1);
    for (unsigned i = 0; i < ROUNDS; i++)
        next_round(&s, 0, 1);
    const ddsm_stats_t stats = end(&s);
    if (r->rank)
        check(stats.read_faults == (OTHERS + 1 + TESTS) * USED);
}

static const struct test tests[] = {
    {"the same pages", 2, same_pages, NULL, APART},
    {"fewer pages", 2, fewer_pages, NULL, APART},
    {"other pages", 2, other_pages, NULL, APART},
    {"behind the lock", 2, behind_the_lock, NULL, APART},
    {"in later intervals", 2, in_later_intervals, NULL, APART},
    {"many locks", 2, many_locks, NULL, APART},
};

RUN_TESTS(tests)
