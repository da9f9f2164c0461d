/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages that a rank writes between one release and the next, again and again:
 * releases leave them writable (dsm/pages/hot.h). */
#include <pthread.h>

#include "dsm_scene.h"

enum { PAGE = 4096, LOCKS = 64 /* of a space, by default */ };

static uint64_t write_faults(ddsm_t *d)
{
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    return s.write_faults;
}

/* A lock for each element: each rank adds to its part, and now and then to any
 * other, so pages have several writers, and hot ones become old. */
static void lock_of_each(struct rank *r)
{
    enum { PAGES = 8, N = PAGES * PAGE / 8, TIMES = 6000, OTHERS = 50 };
    const ddsm_place_t at = {.homes = DDSM_CYCLIC};
    ddsm_t *d = space(r, 1 << 20, 0);
    uint64_t *sum = ddsm_alloc(d, N * sizeof *sum, &at);
    const size_t part = N / r->size;
    for (unsigned i = 0; i < TIMES; i++) {
        const bool other = i % OTHERS == 0;
        const size_t k = other ? i * 37 % N : r->rank * part + i * 7 % part;
        ok(d, ddsm_lock(d, (unsigned)k % LOCKS));
        sum[k] += i;
        ok(d, ddsm_unlock(d, (unsigned)k % LOCKS));
    }
    check(write_faults(d) < TIMES / 2);
    ok(d, ddsm_barrier(d));
    uint64_t all = 0;
    for (size_t k = 0; k < N; k++)
        all += sum[k];
    check(all == (uint64_t)r->size * TIMES * (TIMES - 1) / 2);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* One rank alone writes: its page is protected once, at its home seldom. */
static void written_alone(struct rank *r)
{
    enum { TIMES = 500, AT_HOME = 8 };
    ddsm_t *d = space(r, 1 << 20, 0);
    for (unsigned home = 0; home < 2; home++) {
        const ddsm_place_t at = {.homes = DDSM_ONE, .rank = home};
        volatile unsigned *p = ddsm_alloc(d, PAGE, &at);
        const uint64_t before = write_faults(d);
        for (unsigned i = 1; i <= TIMES && r->rank == 0; i++) {
            p[i % 100] = i;
            ok(d, ddsm_release(d));
        }
        check(write_faults(d) - before <= (home ? 2 : 2 + TIMES / AT_HOME));
        ok(d, ddsm_barrier(d));
        for (unsigned i = TIMES - 99; i <= TIMES; i++)
            check(p[i % 100] == i);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* More of them than a release compares. */
static void too_many(struct rank *r)
{
    enum { PAGES = 100, TIMES = 20 };
    const ddsm_place_t at = {.homes = DDSM_CYCLIC};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, PAGES * PAGE, &at);
    for (unsigned i = 1; i <= TIMES; i++) {
        for (unsigned page = 0; page < PAGES; page++)
            p[page * PAGE + r->rank] = (unsigned char)i;
        ok(d, ddsm_release(d));
        ok(d, ddsm_acquire(d));
    }
    ok(d, ddsm_barrier(d));
    for (unsigned page = 0; page < PAGES; page++)
        for (unsigned k = 0; k < r->size; k++)
            check(p[page * PAGE + k] == TIMES);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* A page that is no longer written stays writable only for a while. */
static void cools_down(struct rank *r)
{
    enum { HOT = 5, LONG = 100 };
    ddsm_t *d = space(r, 1 << 20, 0);
    for (unsigned home = 0; home < 2; home++) {
        const ddsm_place_t at = {.homes = DDSM_ONE, .rank = home};
        volatile unsigned *p = ddsm_alloc(d, PAGE, &at);
        for (unsigned i = 1; i <= HOT && r->rank == 0; i++) {
            *p = i;
            ok(d, ddsm_release(d));
        }
        for (unsigned i = 0; i < LONG; i++)
            ok(d, ddsm_release(d));
        const uint64_t before = write_faults(d);
        if (r->rank == 0) {
            *p = HOT + 1;
            check(write_faults(d) == before + 1);
        }
        ok(d, ddsm_barrier(d));
        check(*p == HOT + 1);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

static void write_locked(ddsm_t *d, volatile unsigned *word, unsigned value)
{
    ok(d, ddsm_lock(d, 0));
    *word = value;
    ok(d, ddsm_unlock(d, 0));
}

static void tell_and_await(unsigned step)
{
    *ranks_outside = step;
    check_within(60, *ranks_outside == step + 1);
}

/* The home of a hot page takes a change back, and another rank has fetched the
 * page in between. */
static void taken_back(struct rank *r)
{
    enum { HOT = 5 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned *p = ddsm_alloc(d, PAGE, &at);
    if (r->rank == 0) {
        for (unsigned i = 1; i <= HOT; i++)
            write_locked(d, &p[1], i);
        tell_and_await(1);
        ok(d, ddsm_lock(d, 0));
        p[0] = 1;
        tell_and_await(3);
        p[0] = 0;
        ok(d, ddsm_unlock(d, 0));
        tell_and_await(5);
    } else {
        check_within(60, *ranks_outside == 1);
        ok(d, ddsm_lock(d, 0)); /* its copy is old from here on */
        ok(d, ddsm_unlock(d, 0));
        tell_and_await(2);
        check(p[2] == 0); /* fetches what rank 0 is writing, too */
        tell_and_await(4);
        ok(d, ddsm_lock(d, 0));
        check(p[0] == 0 && p[1] == HOT);
        ok(d, ddsm_unlock(d, 0));
        *ranks_outside = 6;
    }
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

struct adder {
    pthread_t thread;
    ddsm_t *d;
    volatile uint64_t *sum;
    unsigned lock, times;
};

static void *add_often(void *arg)
{
    const struct adder *a = arg;
    for (unsigned i = 0; i < a->times; i++) {
        ok(a->d, ddsm_lock(a->d, a->lock));
        ++*a->sum;
        ok(a->d, ddsm_unlock(a->d, a->lock));
    }
    return NULL;
}

/* Threads of both ranks add to neighbours in one page, each under its own lock,
 * so each writes while others release. */
static void beside_releases(struct rank *r)
{
    enum { THREADS = 3, TIMES = 4000 };
    ddsm_t *d = space(r, 1 << 20, 0);
    for (unsigned home = 0; home < 2; home++) {
        const ddsm_place_t at = {.homes = DDSM_ONE, .rank = home};
        uint64_t *sum = ddsm_alloc(d, PAGE, &at);
        struct adder adder[THREADS];
        for (unsigned t = 0; t < THREADS; t++) {
            const unsigned place = r->rank * THREADS + t;
            adder[t] = (struct adder){
                .d = d, .sum = &sum[place], .lock = place, .times = TIMES};
            check(
                !pthread_create(&adder[t].thread, NULL, add_often, &adder[t]));
        }
        for (unsigned t = 0; t < THREADS; t++)
            pthread_join(adder[t].thread, NULL);
        ok(d, ddsm_barrier(d));
        for (unsigned place = 0; place < 2 * THREADS; place++)
            check(sum[place] == TIMES);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

static const struct test tests[] = {
    {"a lock for each element", 2, lock_of_each, NULL, APART},
    {"a lock for each element, three ranks", 3, lock_of_each, NULL, APART},
    {"written alone", 2, written_alone, NULL, APART},
    {"too many", 3, too_many, NULL, APART},
    {"cools down", 2, cools_down, NULL, APART},
    {"taken back", 2, taken_back, NULL, APART},
    {"beside releases", 2, beside_releases, NULL, APART},
};

RUN_TESTS(tests)
