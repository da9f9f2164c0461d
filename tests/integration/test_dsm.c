/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory: what ranks see of what others have written. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>

#include "dsm_scene.h"

/* Rank 0 writes and gives lock 0 to rank 1; rank 2 takes lock 1 of rank 1, and
 * sees that. */
static void handed_on(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t at[] = {{.homes = DDSM_ONE, .rank = 0},
                               {.homes = DDSM_ONE, .rank = 1},
                               {.homes = DDSM_ONE, .rank = 2}};
    volatile uint64_t *data = ddsm_alloc(d, 8192, &at[1]);
    volatile uint64_t *flag = ddsm_alloc(d, 8192, &at[r->size - 1]);
    for (uint64_t round = 1; round <= 40; round++) {
        for (bool done = false; !done;) {
            /* rank r waits for flag == 3 * round + r, under lock r */
            unsigned mine = r->rank ? r->rank - 1 : 2;
            ok(d, ddsm_lock(d, mine));
            done = flag[0] == 3 * (round - 1) + r->rank;
            if (done && r->rank == 0)
                data[round] = round * 5;
            if (done && r->rank == 2)
                check(data[round] == round * 5);
            ok(d, ddsm_unlock(d, mine));
            if (done) {
                ok(d, ddsm_lock(d, r->rank));
                flag[0]++;
                ok(d, ddsm_unlock(d, r->rank));
            } else {
                usleep(100);
            }
        }
    }
    ok(d, ddsm_barrier(d));
    check(flag[0] == 120);
    ddsm_close(d);
}

/* Rank 1 writes pages in many pieces and waits in a barrier. Rank 2 meanwhile
 * acquires what rank 1 has released, and reads pages that are not home yet.
 * After the barrier it must find them new. */
static void many_pieces(struct rank *r)
{
    enum { PAGES = 40, BYTES = PAGES * 4096, STEP = 3, ROUNDS = 8 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, BYTES, &at);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (size_t i = 0; i < BYTES && r->rank == 1; i += STEP)
            p[i] = (unsigned char)(round + i / STEP);
        if (r->rank == 2) {
            usleep(20000);
            ok(d, ddsm_acquire(d));
            for (size_t i = 0; i < BYTES; i += 4096)
                check(p[i + 1] == 0 || (i + 1) % STEP == 0);
        }
        ok(d, ddsm_barrier(d));
        for (size_t i = 0; i < BYTES; i++)
            check(p[i] == (i % STEP ? 0 : (unsigned char)(round + i / STEP)));
        ok(d, ddsm_barrier(d));
    }
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    check((r->rank == 1) == (s.packed_bytes > BYTES / STEP));
    check(s.pieces == 0);
    ddsm_close(d);
}

/* All ranks write each page in many pieces; the homes take turns. A rank's pack
 * has parts for all others. */
static void pieces_of_all(struct rank *r)
{
    enum { PAGES = 12, BYTES = PAGES * 4096, ROUNDS = 6 };
    const ddsm_place_t at = {.homes = DDSM_CYCLIC};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, BYTES, &at);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        for (size_t i = r->rank; i < BYTES; i += r->size + 1)
            p[i] = (unsigned char)(round + i % 251);
        ok(d, ddsm_barrier(d));
        for (size_t i = 0; i < BYTES; i++)
            check(p[i] == (i % (r->size + 1) == r->size
                               ? 0
                               : (unsigned char)(round + i % 251)));
        ok(d, ddsm_barrier(d));
    }
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    check(s.packed_bytes > 0);
    ddsm_close(d);
}

/* The flag's home sees it as soon as it is put there, long before the release
 * that has put it ends. */
static void flag_before_notices(struct rank *r)
{
    enum { PAGES = 1000, ROUNDS = 20 };
    const ddsm_place_t at1 = {.homes = DDSM_ONE, .rank = 1};
    const ddsm_place_t at0 = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, (PAGES + 16) * 4096, 0);
    volatile unsigned *flag = ddsm_alloc(d, 4096, &at1);
    volatile unsigned char *bulk = ddsm_alloc(d, PAGES * 4096, &at1);
    volatile unsigned *data = ddsm_alloc(d, 4096, &at0);
    for (unsigned round = 1; round <= ROUNDS; round++) {
        check(*data == round - 1); /* a copy that is old soon */
        ok(d, ddsm_barrier(d));
        if (r->rank == 0) {
            for (unsigned i = 0; i < PAGES; i++)
                bulk[i * 4096] = (unsigned char)round;
            *data = round;
            *flag = round;
            ok(d, ddsm_release(d));
        } else {
            data[1] = round; /* which no release has written home */
            while (*flag != round)
                sched_yield();
            ok(d, ddsm_acquire(d));
            check(*data == round);
        }
        ok(d, ddsm_barrier(d));
        check(data[1] == round);
    }
    ddsm_close(d);
}

static void *meet(void *d)
{
    ok(d, ddsm_barrier(d));
    return NULL;
}

/* A thread makes a page dirty while another one is in a barrier. R5 forbids to
 * write then, but where a read fault cannot be told from a write fault, a read
 * may do it. Its page is as old as other copies all the same. */
static void dirty_in_a_barrier(struct rank *r)
{
    const ddsm_place_t at1 = {.homes = DDSM_ONE, .rank = 1};
    ddsm_t *d = space(r, 1 << 16, 0);
    volatile unsigned char *p = ddsm_alloc(d, 4096, &at1);
    pthread_t other;
    check(p[0] == 0);
    ok(d, ddsm_barrier(d));
    if (r->rank == 0) {
        check(pthread_create(&other, NULL, meet, d) == 0);
        nap(200); /* it is in the barrier then */
        p[0] = 5;
        *ranks_outside = 1;
        pthread_join(other, NULL);
    } else {
        p[1] = 7;
        check_within(60, *ranks_outside == 1);
        ok(d, ddsm_barrier(d));
    }
    check(p[1] == 7);
    ok(d, ddsm_barrier(d));
    check(p[0] == 5 && p[1] == 7);
    ddsm_close(d);
}

/* More ranges than the log holds: all copies are made old then. */
static void long_log(struct rank *r)
{
    enum { PAGES = 3000, TIMES = 4 };
    ddsm_t *d = space(r, 3 * PAGES * 4096, 0);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 1};
    unsigned char *p = ddsm_alloc(d, 2 * PAGES * 4096, &place);
    for (unsigned i = 0; i < 2 * PAGES; i++)
        check(p[4096u * i] == 0);
    ok(d, ddsm_barrier(d));
    for (unsigned t = 1; t <= TIMES && r->rank == 0; t++) {
        ok(d, ddsm_lock(d, 1));
        for (unsigned i = 0; i < PAGES; i++)
            p[2u * 4096 * i] = (unsigned char)(i + t);
        ok(d, ddsm_unlock(d, 1));
    }
    /* it is not at the barrier with them: the log is read */
    expect(r, 0, drail_job_barrier(r->job, -1));
    ok(d, ddsm_lock(d, 1));
    for (unsigned i = 0; i < PAGES; i++) {
        check(p[2u * 4096 * i] == (unsigned char)(i + TIMES));
        check(p[2u * 4096 * i + 4096] == 0);
    }
    ok(d, ddsm_unlock(d, 1));
    ddsm_close(d);
}

/* Writes every other page of a half, a range each. */
static void write_half(struct rank *r, ddsm_t *d, unsigned char *half,
                       unsigned ranges)
{
    if (r->rank == 0) {
        ok(d, ddsm_lock(d, 1));
        for (unsigned i = 0; i < ranges; i++)
            half[2u * 4096 * i] = (unsigned char)(i % 100 + 1);
        ok(d, ddsm_unlock(d, 1));
    }
    expect(r, 0, drail_job_barrier(r->job, -1));
}

/* The log is read over the end of the ring, which holds all that is new: no
 * other copies are made old. */
static void over_the_end(struct rank *r)
{
    enum { RANGES = 3000, HALF = 2 * RANGES * 4096 };
    ddsm_t *d = space(r, 2 * HALF, 0);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    unsigned char *p = ddsm_alloc(d, 2 * HALF, &place);
    ddsm_stats_t s;
    ok(d, ddsm_prefetch(d, p, 2 * HALF, false));
    ok(d, ddsm_barrier(d));
    for (unsigned half = 0; half < 2; half++) {
        write_half(r, d, p + half * HALF, RANGES);
        ddsm_stats_reset(d);
        ok(d, ddsm_lock(d, 1));
        ddsm_stats(d, &s);
        check(s.invalidated == (r->rank ? RANGES : 0));
        for (unsigned i = 0; i < 2 * RANGES; i++) {
            const bool written = i < (half + 1) * RANGES;
            check(p[2u * 4096 * i] == (written ? i % RANGES % 100 + 1 : 0));
            check(p[2u * 4096 * i + 4096] == 0);
        }
        ok(d, ddsm_unlock(d, 1));
        expect(r, 0, drail_job_barrier(r->job, -1));
    }
    ddsm_close(d);
}

static void prefetched(struct rank *r)
{
    enum { BYTES = 1 << 20 };
    ddsm_t *d = space(r, 2 * BYTES, 0);
    unsigned char *p = ddsm_alloc(d, BYTES, NULL);
    size_t first, last;
    ddsm_stats_t s;
    ddsm_part(d, 0, BYTES, &first, &last);
    ok(d, ddsm_prefetch(d, p + first, last - first, true));
    ddsm_stats_reset(d);
    memset(p + first, (int)r->rank + 1, last - first);
    ddsm_stats(d, &s);
    check(s.write_faults == 0);
    ok(d, ddsm_barrier(d));
    ok(d, ddsm_prefetch(d, p, BYTES, false));
    ddsm_stats_reset(d);
    unsigned long sum = 0;
    for (size_t i = 0; i < BYTES; i++)
        sum += p[i];
    ddsm_stats(d, &s);
    check(s.read_faults == 0);
    check(sum == (unsigned long)BYTES / r->size * r->size * (r->size + 1) / 2);
    check(ddsm_prefetch(d, p, 0, false) == 0);
    check(ddsm_prefetch(d, p + BYTES, 0, false) == 0);
    check(ddsm_prefetch(d, p, BYTES + 1, false) == DRAIL_EINVAL);
    check(ddsm_prefetch(d, p - 1, 1, false) == DRAIL_EINVAL);
    check(ddsm_prefetch(d, &s, 1, false) == DRAIL_EINVAL);
    check(strstr(ddsm_last_error(d), "is not within"));
    ddsm_close(d);
}

/* Faults of pages in order bring those after them. */
static void ahead(struct rank *r)
{
    enum { PAGES = 256 };
    ddsm_t *d = space(r, PAGES * 4096, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    unsigned char *p = ddsm_alloc(d, PAGES * 4096, &place);
    if (r->rank == 0)
        memset(p, 5, PAGES * 4096);
    ok(d, ddsm_barrier(d));
    ddsm_stats_t s;
    ddsm_stats_reset(d);
    for (unsigned i = 0; i < PAGES; i++)
        check(p[4096u * i] == 5);
    ddsm_stats(d, &s);
    check(r->rank == 0 ? s.fetches == 0
                       : s.fetched_pages == PAGES && s.fetches < 20);
    ok(d, ddsm_barrier(d));
    /* the same of writes; at their home, those beyond count as written */
    ddsm_stats_reset(d);
    for (unsigned i = 0; i < PAGES / 2 + 3 && r->rank == 0; i++)
        p[4096u * i] = 6;
    ddsm_stats(d, &s);
    check(s.write_faults < 40);
    ok(d, ddsm_barrier(d));
    ddsm_stats(d, &s);
    check(r->rank == 0 ? s.invalidated == 0
                       : s.invalidated >= PAGES / 2 + 3 &&
                             s.invalidated <= (PAGES / 2 + 3) * 9 / 8);
    for (unsigned i = 0; i < PAGES; i++)
        check(p[4096u * i] == (i < PAGES / 2 + 3 ? 6 : 5));
    ddsm_close(d);
}

/* A copy of an array may go downwards, as memmove() does. */
static void ahead_downwards(struct rank *r)
{
    enum { PAGES = 256 };
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 2 * PAGES * 4096, 255);
    volatile unsigned char *from = ddsm_alloc(d, PAGES * 4096, &place);
    volatile unsigned char *to = ddsm_alloc(d, PAGES * 4096, &place);
    ddsm_stats_t s;
    for (unsigned i = 0; i < PAGES && r->rank == 0; i++)
        from[4096 * i] = (unsigned char)(i + 1);
    ok(d, ddsm_barrier(d));
    ddsm_stats_reset(d);
    for (unsigned i = PAGES; i-- > 0 && r->rank;)
        to[4096 * i] = from[4096 * i];
    ddsm_stats(d, &s);
    check(s.read_faults < 20 && s.write_faults < 20);
    check(r->rank ? s.fetched_pages >= PAGES : !s.fetched_pages);
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < PAGES; i++)
        check(to[4096 * i] == (unsigned char)(i + 1));
    ddsm_close(d);
}

/* A loop over planes of an array has an ascending sequence in each plane. They
 * end with the interval. */
static void ahead_in_planes(struct rank *r)
{
    enum { PLANES = 100, EACH = 16, ALL = PLANES * EACH, AGAIN = 40 };
    const ddsm_place_t at0 = {.homes = DDSM_ONE, .rank = 0};
    const ddsm_place_t at1 = {.homes = DDSM_ONE, .rank = 1};
    ddsm_t *d = space(r, (ALL + 1 + AGAIN) * 4096, 255);
    volatile unsigned char *p = ddsm_alloc(d, ALL * 4096, &at0);
    check(ddsm_alloc(d, 4096, &at1)); /* no sequence goes on behind it */
    volatile unsigned char *again = ddsm_alloc(d, AGAIN * 4096, &at0);
    ddsm_stats_t s;
    for (unsigned i = 0; i < ALL && r->rank == 0; i++)
        p[4096 * i] = again[4096 * (i % AGAIN)] = 5;
    ok(d, ddsm_barrier(d));
    ddsm_stats_reset(d);
    for (unsigned i = 0; i < EACH; i++)
        for (unsigned plane = 0; plane < PLANES; plane++)
            check(p[4096 * (plane * EACH + i)] == 5);
    ddsm_stats(d, &s);
    check(s.read_faults <= 3 * PLANES);
    ok(d, ddsm_barrier(d));
    ddsm_stats_reset(d);
    for (unsigned i = 0; i < AGAIN / 4; i++)
        check(again[4096 * i] == 5);
    ddsm_stats(d, &s);
    const uint64_t next = s.fetched_pages;
    check(r->rank == 0 || (next > AGAIN / 4 && next < AGAIN));
    ok(d, ddsm_barrier(d));
    check(again[4096 * next] == 5);
    ddsm_stats(d, &s);
    check(s.fetched_pages - next == r->rank);
    ddsm_close(d);
}

/* A rank uses half of each plane. Little of the other halves is fetched, also
 * along the history. */
static void ahead_in_half_planes(struct rank *r)
{
    enum { PLANES = 16, EACH = 64, HALF = EACH / 2, TURNS = 3 };
    const ddsm_place_t at0 = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, PLANES * EACH * 4096, 255);
    volatile unsigned char *p = ddsm_alloc(d, PLANES * EACH * 4096, &at0);
    ddsm_stats_t s;
    ddsm_stats_reset(d);
    for (unsigned turn = 1; turn <= TURNS; turn++) {
        for (unsigned i = 0; i < PLANES * EACH && r->rank == 0; i++)
            p[4096 * i] = (unsigned char)turn;
        ddsm_interval(d, 7);
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < HALF; i++)
            for (unsigned plane = 0; plane < PLANES; plane++)
                check(p[4096 * (plane * EACH + i)] == turn);
        ddsm_interval(d, 8);
        ok(d, ddsm_barrier(d));
    }
    ddsm_stats(d, &s);
    const uint64_t used = (uint64_t)TURNS * PLANES * HALF;
    check(r->rank == 0 ||
          (s.fetched_pages >= used && s.fetched_pages <= used * 11 / 10));
    check(10 * s.predicted_used >= 9 * s.predicted);
    ddsm_close(d);
}

/* A fault of the first page is no stream yet. */
static void first_page(struct rank *r)
{
    ddsm_t *d = space(r, 16 * 4096, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    volatile unsigned char *p = ddsm_alloc(d, 16 * 4096, &place);
    ddsm_stats_t s;
    for (unsigned i = 0; i < 16 && r->rank == 0; i++)
        p[4096 * i] = 3;
    ok(d, ddsm_barrier(d));
    check(p[0] == 3);
    ddsm_stats(d, &s);
    check(s.fetched_pages == r->rank);
    ddsm_close(d);
}

/* Only the pages that the home writes are read again. */
static void half_written(struct rank *r)
{
    enum { PAGES = 32, ROUNDS = 4 };
    ddsm_t *d = space(r, PAGES * 4096, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    volatile unsigned char *p = ddsm_alloc(d, PAGES * 4096, &place);
    ddsm_stats_t s;
    for (unsigned round = 1; round <= ROUNDS; round++) {
        const unsigned written = round == 1 ? PAGES : PAGES / 2;
        for (unsigned i = 0; i < written && r->rank == 0; i++)
            p[4096 * i] = (unsigned char)round;
        ok(d, ddsm_barrier(d));
        ddsm_stats_reset(d);
        for (unsigned i = 0; i < PAGES; i++)
            check(p[4096 * i] == (i < PAGES / 2 ? round : 1));
        ddsm_stats(d, &s);
        check(s.fetched_pages == (r->rank == 0 ? 0 : written));
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* Threads of a rank that fault at once, and take locks. */
struct threads {
    ddsm_t *d;
    unsigned char *p;
    uint64_t *counter;
    unsigned from;
};

static void *touch(void *arg)
{
    const struct threads *t = arg;
    for (unsigned i = 0; i < 128; i++) {
        check(t->p[4096u * i] == 9);
        t->p[4096u * i + t->from] = (unsigned char)(i + t->from);
    }
    for (unsigned i = 0; i < 50; i++) {
        ok(t->d, ddsm_lock(t->d, 3));
        ++*t->counter;
        ok(t->d, ddsm_unlock(t->d, 3));
    }
    return NULL;
}

static void several_threads(struct rank *r)
{
    enum { THREADS = 4 };
    pthread_t thread[THREADS];
    struct threads arg[THREADS];
    ddsm_t *d = space(r, 1 << 20, 4);
    unsigned char *p = ddsm_alloc(d, 128 * 4096, NULL);
    uint64_t *counter = ddsm_alloc(d, 8, NULL);
    if (r->rank == 0)
        memset(p, 9, 128 * 4096);
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < THREADS; i++) {
        arg[i] = (struct threads){d, p, counter, 1 + r->rank * THREADS + i};
        check(pthread_create(&thread[i], NULL, touch, &arg[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    ok(d, ddsm_barrier(d));
    check(*counter == THREADS * 50u * r->size);
    for (unsigned i = 0; i < 128; i++)
        for (unsigned j = 1; j <= THREADS * r->size; j++)
            check(p[4096u * i + j] == (unsigned char)(i + j));
    ddsm_close(d);
}

static void reductions(struct rank *r)
{
    ddsm_t *d = space(r, 4096, 0);
    double x[2] = {r->rank + 0.5, -1.0 * r->rank}, y[1000];
    int64_t n = r->rank, m = r->rank;
    ok(d, ddsm_reduce(d, x, 2, DDSM_DOUBLE, DDSM_SUM));
    check(x[0] == r->size * (r->size - 1) / 2.0 + r->size / 2.0);
    check(x[1] == -(r->size * (r->size - 1) / 2.0));
    ok(d, ddsm_reduce(d, &n, 1, DDSM_INT64, DDSM_MAX));
    ok(d, ddsm_reduce(d, &m, 1, DDSM_INT64, DDSM_MIN));
    check(n == r->size - 1 && m == 0);
    for (unsigned i = 0; i < 1000; i++)
        y[i] = i * (r->rank + 1.0);
    ok(d, ddsm_reduce(d, y, 1000, DDSM_DOUBLE, DDSM_MAX));
    for (unsigned i = 0; i < 1000; i++)
        check(y[i] == i * (double)r->size);
    ok(d, ddsm_reduce(d, y, 0, DDSM_DOUBLE, DDSM_SUM));
    ok(d, ddsm_reduce(d, NULL, 0, DDSM_INT64, DDSM_MIN));
    check(y[0] == 0 && y[1] == r->size);
    check(ddsm_reduce(d, NULL, 1, DDSM_DOUBLE, DDSM_SUM) == DRAIL_EINVAL);
    check(ddsm_reduce(d, y, 5000, DDSM_DOUBLE, DDSM_SUM) == DRAIL_EINVAL);
    ddsm_close(d);
}

static void must_not_run(size_t first, size_t last, void *context)
{
    check(false);
}

/* Calls of ddsm_alloc() that differ break the memory. */
static void broken(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    double x = 1;
    ddsm_alloc(d, r->rank ? 4096 : 8192, NULL);
    check(ddsm_barrier(d) == DRAIL_EINVAL);
    check(ddsm_for(d, 0, 100, must_not_run, NULL) == DRAIL_EINVAL);
    check(ddsm_reduce(d, &x, 0, DDSM_DOUBLE, DDSM_SUM) == DRAIL_EINVAL);
    check(ddsm_reduce(d, &x, 1, DDSM_DOUBLE, DDSM_SUM) == DRAIL_EINVAL);
    ddsm_close(d);
}

static int open_with(struct rank *r, void (*set)(ddsm_config_t *cfg), char *why)
{
    ddsm_config_t cfg;
    ddsm_t *d = NULL;
    drail_error_t err = {0};
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 16;
    set(&cfg);
    int rc = ddsm_open(r->job, &cfg, &d, &err);
    strcpy(why, err.text);
    check(rc ? !d : d != NULL);
    ddsm_close(d);
    return rc;
}

static unsigned refused_rank;
static void *taken;

static void odd_page(ddsm_config_t *cfg)
{
    if (refused_rank)
        cfg->page_bytes = 5000;
}

static void no_bytes(ddsm_config_t *cfg)
{
    cfg->bytes = 0;
}

static void odd_base(ddsm_config_t *cfg)
{
    cfg->base = (void *)0x300000000010;
}

static void other_bytes(ddsm_config_t *cfg)
{
    cfg->bytes += refused_rank * 4096;
}

static void base_taken(ddsm_config_t *cfg)
{
    cfg->base = taken;
}

static void no_locks(ddsm_config_t *cfg)
{
    cfg->locks = 0;
}

static void large_pages(ddsm_config_t *cfg)
{
    cfg->page_bytes = 1 << 16;
    cfg->base = (void *)0x310000000000;
}

/* A call that a rank refuses fails on all, with its words. */
static void refused(struct rank *r)
{
    char why[256];
    refused_rank = r->rank;
    check(open_with(r, odd_page, why) == DRAIL_EINVAL);
    check(strstr(why, "pages of 5000 bytes"));
    check(open_with(r, no_bytes, why) == DRAIL_EINVAL);
    check(open_with(r, odd_base, why) == DRAIL_EINVAL);
    check(strstr(why, "is not a multiple"));
    check(open_with(r, other_bytes, why) == DRAIL_EINVAL);
    check(strstr(why, "other ones"));
    check(open_with(r, no_locks, why) == DRAIL_EINVAL);
    /* something is there, on the last rank */
    taken = (void *)0x320000000000;
    if (r->rank == r->size - 1)
        check(mmap(taken, 4096, PROT_READ,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
                   0) == taken);
    check(open_with(r, base_taken, why) == DRAIL_EINVAL);
    check(strstr(why, "something else is there"));
    check(open_with(r, large_pages, why) == 0);

    ddsm_t *d = space(r, 1 << 20, 0);
    check(ddsm_is_symmetric(d));
    check(!ddsm_alloc(d, 0, NULL) && !ddsm_alloc(d, 2 << 20, NULL));
    check(!ddsm_alloc(d, 8, &(ddsm_place_t){.element = 3}));
    check(!ddsm_alloc(d, 8, &(ddsm_place_t){.homes = DDSM_ONE, .rank = 9}));
    check(ddsm_lock(d, 64) == DRAIL_EINVAL);
    check(ddsm_unlock(d, 1) == DRAIL_EINVAL);
    ddsm_close(d);
}

/* Where views lie, which is likely to be free on all ranks, lies nothing else
 * of an open space. */
static void views_place(struct rank *r)
{
    ddsm_config_t cfg;
    ddsm_t *d = NULL;
    void *const likely = (void *)0x200000000000;
    void *p =
        mmap(likely, 4 << 20, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(p != MAP_FAILED && !munmap(p, 4 << 20));
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.base = (void *)0x330000000000;
    expect(r, 0, ddsm_open(r->job, &cfg, &d, NULL));
    ddsm_t *next = space(r, 1 << 20, 0);
    check(ddsm_base(d) == cfg.base);
    check(ddsm_is_symmetric(next));
    check(p != likely || ddsm_base(next) == likely);
    ddsm_close(next);
    ddsm_close(d);
}

/* A fault elsewhere is the program's own, also in the space where nothing has
 * been allocated: to its handler, or the end. */
static sigjmp_buf elsewhere;

static void own_handler(int number)
{
    siglongjmp(elsewhere, 1);
}

static void own_faults(struct rank *r)
{
    struct sigaction own = {.sa_handler = own_handler}, now;
    sigaction(SIGSEGV, &own, NULL);
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile char *p = ddsm_alloc(d, 4096, NULL);
    volatile char *nothing =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned faults = 0;
    if (sigsetjmp(elsewhere, 1) == 0)
        nothing[0] = 1;
    else
        faults++;
    if (sigsetjmp(elsewhere, 1) == 0)
        p[4096] = 1;
    else
        faults++;
    check(faults == 2);
    p[0] = 1;
    ddsm_close(d);
    sigaction(SIGSEGV, NULL, &now);
    check(now.sa_handler == own_handler);
}

static void own_end(struct rank *r)
{
    signal(SIGSEGV, SIG_DFL);
    ddsm_t *d = space(r, 1 << 20, 0);
    if (r->rank == 1) {
        volatile char *nothing =
            mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        nothing[0] = 1;
        _exit(0);
    }
    check(ddsm_barrier(d) != 0);
    ddsm_close(d);
}

/* A rank that leaves early is an error of the ranks that wait, also within a
 * fault. */
static sigjmp_buf failed;
static int failed_with;

static void on_failed(void *context, int code, const char *sentence)
{
    failed_with = code;
    check(*sentence && context == &failed_with);
    siglongjmp(failed, 1);
}

static void leaves_early(struct rank *r)
{
    ddsm_config_t cfg;
    ddsm_t *d;
    ddsm_config_init(&cfg);
    cfg.bytes = 1 << 20;
    cfg.failed = on_failed;
    cfg.context = &failed_with;
    check(ddsm_open(r->job, &cfg, &d, NULL) == 0);
    volatile char *p =
        ddsm_alloc(d, 65536, &(ddsm_place_t){.homes = DDSM_ONE, .rank = 1});
    if (r->rank == 1)
        memset((char *)p, 3, 65536);
    ok(d, ddsm_barrier(d));
    check(p[0] == 3);
    if (r->rank == 1)
        _exit(5);
    int rc = ddsm_barrier(d);
    check(rc == DRAIL_EPEER || rc == DRAIL_EINTR || rc == DRAIL_ETIMEOUT);
    check(*ddsm_last_error(d));
    check(ddsm_lock(d, 1) == rc);
    if (sigsetjmp(failed, 1) == 0) {
        for (unsigned i = 1; i < 16; i++)
            check(p[4096 * i] == 3);
        check(false);
    }
    check(failed_with == rc);
    ddsm_close(d);
}

/* The threads of a parallel region fault, and take locks, where OpenMP has no
 * further ones for an engine of threads. */
static void parallel_region(struct rank *r)
{
    enum { EACH = 1 << 18, THREADS = 4, BYTES = EACH * THREADS, STEP = 512 };
    ddsm_t *d = space(r, 2 * BYTES, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = r->size - 1};
    unsigned char *p = ddsm_alloc(d, BYTES, &place);
    uint64_t *rounds = ddsm_alloc(d, 4096, NULL);
    for (unsigned round = 1; round < 4; round++) {
        if (r->rank == 0)
            memset(p, (int)round, BYTES);
        ok(d, ddsm_barrier(d));
#pragma omp parallel for num_threads(THREADS)
        for (unsigned i = 0; i < THREADS; i++) {
            unsigned char *mine = p + i * EACH;
            for (unsigned k = 0; k < EACH; k += STEP) {
                check(mine[k] == round);
                mine[k + 1 + r->rank] = (unsigned char)(k / STEP + round);
            }
            ok(d, ddsm_lock(d, 2));
            ++*rounds;
            ok(d, ddsm_unlock(d, 2));
        }
        ok(d, ddsm_barrier(d));
        for (unsigned k = 0; k < BYTES; k += STEP)
            for (unsigned other = 0; other < r->size; other++)
                check(p[k + 1 + other] ==
                      (unsigned char)(k % EACH / STEP + round));
        ok(d, ddsm_barrier(d));
    }
    check(*rounds == 3 * THREADS * r->size);
    ddsm_close(d);
}

static drail_config_t forkjoin;

static void by_forkjoin(drail_config_t *cfg)
{
    cfg->engine = DRAIL_ENGINE_THREADED;
    cfg->team = DRAIL_TEAM_FORKJOIN;
    forkjoin = *cfg;
    space_rails = &forkjoin;
}

static void by_message(drail_config_t *cfg)
{
    setenv("DRAIL_EXTENSIONS", "0", 1);
}

static const struct test tests[] = {
    {"parts of 1", 1, parts, NULL, APART},
    {"parts of 2", 2, parts, NULL, APART},
    {"parts of 3", 3, parts, NULL, APART},
    {"parts of 5", 5, parts, NULL, APART},
    {"bytes of one page", 4, bytes_of_one_page, NULL, APART},
    {"locks of 1", 1, locks, NULL, APART},
    {"locks of 4", 4, locks, NULL, APART},
    {"handed on", 3, handed_on, NULL, APART},
    {"many pieces", 3, many_pieces, NULL, APART},
    {"pieces of all", 4, pieces_of_all, NULL, APART},
    {"a flag before notices", 2, flag_before_notices, NULL, APART},
    {"dirty in a barrier", 2, dirty_in_a_barrier, NULL, APART},
    {"long log", 2, long_log, NULL, APART},
    {"over the end", 2, over_the_end, NULL, APART},
    {"broken", 2, broken, NULL, APART},
    {"prefetched", 4, prefetched, NULL, APART},
    {"ahead", 2, ahead, NULL, APART},
    {"ahead downwards", 2, ahead_downwards, NULL, APART},
    {"ahead in planes", 2, ahead_in_planes, NULL, APART},
    {"ahead in half planes", 2, ahead_in_half_planes, NULL, APART},
    {"first page", 2, first_page, NULL, APART},
    {"half written", 2, half_written, NULL, APART},
    {"several threads", 2, several_threads, NULL, APART},
    {"parallel region", 2, parallel_region, NULL, APART},
    {"parallel region by forkjoin", 2, parallel_region, by_forkjoin, APART},
    {"reductions", 3, reductions, NULL, APART},
    {"refused", 2, refused, NULL, APART},
    {"views' place", 2, views_place, NULL, APART},
    {"own faults", 2, own_faults, NULL, APART},
    {"own end", 2, own_end, NULL, APART | FAILS},
    {"leaves early", 3, leaves_early, NULL, APART | FAILS},
    {"locks of 3 by message", 3, locks, by_message, APART},
};

RUN_TESTS(tests)
