/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory where a rank must make calls for others to get at
 * its memory: a thread makes them. */
#include <pthread.h>
#include <signal.h>

#include "dsm_scene.h"
#include "over_tcp.h"

/* The home computes, in no call of ours, while another rank reads its pages and
 * takes its lock. */
static void home_computes(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 64);
    const ddsm_place_t place = {.homes = DDSM_ONE, .rank = 0};
    volatile unsigned char *p = ddsm_alloc(d, 1 << 18, &place);
    _Atomic unsigned *done = ranks_outside;
    if (r->rank == 0)
        memset((void *)(uintptr_t)p, 4, 1 << 18);
    ok(d, ddsm_barrier(d));
    if (r->rank) {
        for (unsigned i = 0; i < 1 << 18; i += 4096)
            check(p[i] == 4);
        ok(d, ddsm_lock(d, 0));
        p[r->rank] = 5;
        ok(d, ddsm_unlock(d, 0));
        ++*done;
    }
    check_within(60, *done >= r->size - 1);
    ok(d, ddsm_barrier(d));
    for (unsigned i = 0; i < r->size; i++)
        check(p[i] == (i ? 5 : 4));
    ddsm_close(d);
}

/* Calls on the job, which let all its transports go on, while a thread of the
 * rank does so, too. */
static void job_calls(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t place = {.homes = DDSM_CYCLIC};
    volatile uint32_t *p = ddsm_alloc(d, 64 * 4096, &place);
    for (unsigned round = 1; round <= 20; round++) {
        for (unsigned i = 0; i < 64; i++)
            p[1024 * i + r->rank]++;
        expect(r, 0, drail_job_barrier(r->job, -1));
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < 64; i++)
            check(p[1024 * i + (r->rank + 1) % r->size] == round);
        ddsm_t *other = space(r, 1 << 16, 0);
        ddsm_close(other);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* A program can be ended while it waits for a page of a rank that stands still:
 * rank 2 looks on. */
static void ended_in_a_fault(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 16, 0);
    volatile char *p =
        ddsm_alloc(d, 4096, &(ddsm_place_t){.homes = DDSM_ONE, .rank = 1});
    if (r->rank == 1)
        p[0] = 1;
    ok(d, ddsm_barrier(d));
    if (r->rank == 0) {
        *ranks_outside = (unsigned)getpid();
        nap(100);
        alarm(1);
        check(p[0] == 0); /* SIGALRM comes first */
    } else if (r->rank == 1) {
        kill(getpid(), SIGSTOP);
    }
    while (!*ranks_outside)
        nap(1);
    check_within(20, kill((pid_t)*ranks_outside, 0));
    _exit(0);
}

enum { PIECES_BYTES = 12 * 4096 };

static ddsm_t *serving_space(struct rank *r, volatile unsigned char **p)
{
    const ddsm_place_t cyclic = {.homes = DDSM_CYCLIC};
    space_serves_packs = true;
    ddsm_t *d = space(r, 1 << 22, 0);
    *p = ddsm_alloc(d, PIECES_BYTES, &cyclic);
    return d;
}

static ddsm_stats_t stats_of(const ddsm_t *d)
{
    ddsm_stats_t s;
    ddsm_stats(d, &s);
    return s;
}

/* All ranks change all pages in many pieces, under one lock. Each finds what
 * the others have done before. */
static void pieces_under_locks(struct rank *r)
{
    enum { TIMES = 25 };
    volatile unsigned char *p;
    ddsm_t *d = serving_space(r, &p);
    for (unsigned i = 0; i < TIMES; i++) {
        ok(d, ddsm_lock(d, 1));
        const unsigned char before = p[0];
        for (size_t at = 0; at < PIECES_BYTES; at += 3) {
            check(p[at] == before);
            p[at]++;
        }
        dawdle(r);
        ok(d, ddsm_unlock(d, 1));
        dawdle(r);
    }
    ok(d, ddsm_barrier(d));
    for (size_t at = 0; at < PIECES_BYTES; at++)
        check(p[at] == (at % 3 ? 0 : (unsigned char)(TIMES * r->size)));
    const ddsm_stats_t s = stats_of(d);
    check(s.packed_bytes > PIECES_BYTES / 3 && s.pieces == 0);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

struct writer {
    ddsm_t *d;
    volatile unsigned char *p;
    unsigned rank, lock;
    pthread_mutex_t *turn;
};
enum { WRITES = 40 };

static void *write_pieces(void *arg)
{
    const struct writer *w = arg;
    for (unsigned i = 0; i < WRITES; i++) {
        ok(w->d, ddsm_lock(w->d, w->lock));
        pthread_mutex_lock(w->turn);
        for (size_t at = w->rank; at < PIECES_BYTES; at += 4)
            w->p[at]++;
        pthread_mutex_unlock(w->turn);
        ok(w->d, ddsm_unlock(w->d, w->lock));
    }
    return NULL;
}

/* Two threads of each rank write the same bytes in turn, but unlock at any
 * time: what one has packed must not come home behind what the other writes
 * later. */
static void pieces_of_threads(struct rank *r)
{
    pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
    pthread_t other;
    volatile unsigned char *p;
    ddsm_t *d = serving_space(r, &p);
    struct writer writers[2] = {{d, p, r->rank, 2 * r->rank, &turn},
                                {d, p, r->rank, 2 * r->rank + 1, &turn}};
    check(pthread_create(&other, NULL, write_pieces, &writers[0]) == 0);
    write_pieces(&writers[1]);
    pthread_join(other, NULL);
    ok(d, ddsm_barrier(d));
    for (size_t at = 0; at < PIECES_BYTES; at++)
        check(p[at] == (at % 4 < r->size ? 2 * WRITES : 0));
    check(stats_of(d).packed_bytes > 0);
    ddsm_close(d);
}

static void *meet(void *d)
{
    ok(d, ddsm_barrier(d));
    return NULL;
}

/* A thread releases while another one waits in a barrier, whose pack the home
 * has not read yet. */
static void pieces_beside_a_barrier(struct rank *r)
{
    const ddsm_place_t there = {.homes = DDSM_ONE, .rank = 1};
    pthread_t other;
    space_serves_packs = true;
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, 8192, &there);
    for (size_t at = 0; at < 4096 && r->rank == 0; at += 2)
        p[at] = 7;
    if (r->rank)
        nap(300);
    check(pthread_create(&other, NULL, meet, d) == 0);
    if (r->rank == 0) {
        nap(100);
        for (size_t at = 4096; at < 8192; at += 2)
            p[at] = 8;
        ok(d, ddsm_release(d));
    }
    pthread_join(other, NULL);
    check(p[0] == 7 && p[4094] == 7);
    ok(d, ddsm_barrier(d));
    check(p[4096] == 8 && p[8190] == 8);
    ddsm_close(d);
}

struct releaser {
    ddsm_t *d;
    volatile unsigned char *p;
    _Atomic bool is_over;
};

static void *release_pieces(void *arg)
{
    struct releaser *releaser = arg;
    for (unsigned char i = 1; !releaser->is_over; i++) {
        for (size_t at = 0; at < 4096; at += 2)
            releaser->p[at] = i;
        ok(releaser->d, ddsm_release(releaser->d));
    }
    return NULL;
}

/* A thread releases while others prepare reductions, each of another length. */
static void pieces_beside_reductions(struct rank *r)
{
    enum { TIMES = 200 };
    const ddsm_place_t there = {.homes = DDSM_ONE, .rank = 1};
    pthread_t other;
    space_serves_packs = true;
    ddsm_t *d = space(r, 1 << 20, 0);
    struct releaser releaser = {.d = d, .p = ddsm_alloc(d, 4096, &there)};
    if (r->rank == 0)
        check(pthread_create(&other, NULL, release_pieces, &releaser) == 0);
    for (unsigned i = 1; i <= TIMES; i++) {
        int64_t values[8 + TIMES] = {[8] = 1};
        ok(d, ddsm_reduce(d, values, 8 + i, DDSM_INT64, DDSM_SUM));
        check(values[8] == r->size);
    }
    releaser.is_over = true;
    if (r->rank == 0)
        pthread_join(other, NULL);
    ok(d, ddsm_barrier(d));
    check(releaser.p[4094] == releaser.p[0]);
    ddsm_close(d);
}

/* A release, and a flag behind it, without a lock. The homes are in a barrier
 * of the job, or compute. */
static void pieces_released(struct rank *r)
{
    volatile unsigned char *p;
    ddsm_t *d = serving_space(r, &p);
    _Atomic unsigned *turn = ranks_outside;
    for (unsigned i = 0; i < 20; i++) {
        if (r->rank == i % r->size) {
            for (size_t at = 0; at < PIECES_BYTES; at += 2)
                p[at] = (unsigned char)(at + i);
            ok(d, ddsm_release(d));
            ++*turn;
        } else if (i % 2) {
            check_within(60, *turn > i);
        }
        expect(r, 0, drail_job_barrier(r->job, -1));
        ok(d, ddsm_acquire(d));
        for (size_t at = 0; at < PIECES_BYTES; at += 2)
            check(p[at] == (unsigned char)(at + i));
        expect(r, 0, drail_job_barrier(r->job, -1));
    }
    const ddsm_stats_t s = stats_of(d);
    check(s.packed_bytes > 0 && s.pieces == 0);
    ddsm_close(d);
}

static void await_flag(ddsm_t *d, uint64_t *flag, uint64_t value)
{
    uint64_t seen = 0;
    while (seen != value)
        ok(d, ddsm_atomic(d, DDSM_LOAD, flag, 8, 0, 0, &seen));
}

static void set_flag(ddsm_t *d, uint64_t *flag, uint64_t value)
{
    ok(d, ddsm_atomic(d, DDSM_STORE, flag, 8, value, 0, NULL));
}

struct poller {
    ddsm_t *d;
    uint64_t *flag, value;
};

static void *poll_flag(void *arg)
{
    const struct poller *p = arg;
    await_flag(p->d, p->flag, p->value);
    return NULL;
}

/* The home polls a flag, in calls without a pause, until the other rank has
 * released its pieces and set it. */
static void home_polls(struct rank *r)
{
    enum { TIMES = 25, MOST_S = 20, POLLERS = 3 };
    const ddsm_place_t there = {.homes = DDSM_ONE, .rank = 1};
    space_serves_packs = true;
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile unsigned char *p = ddsm_alloc(d, 4096, &there);
    uint64_t *flag = ddsm_alloc(d, 4096, &there);
    const double begin = seconds();
    pthread_t pollers[POLLERS];
    struct poller poller = {d, &flag[0], TIMES};
    for (unsigned i = 0; i < POLLERS && r->rank; i++)
        check(!pthread_create(&pollers[i], NULL, poll_flag, &poller));
    for (uint64_t i = 1; i <= TIMES; i++) {
        if (r->rank == 0) {
            for (size_t at = 0; at < 4096; at += 2)
                p[at] = (unsigned char)i;
            ok(d, ddsm_release(d));
            set_flag(d, &flag[0], i);
            await_flag(d, &flag[1], i);
        } else {
            await_flag(d, &flag[0], i);
            ok(d, ddsm_acquire(d));
            check(p[0] == (unsigned char)i && p[4094] == (unsigned char)i);
            set_flag(d, &flag[1], i);
        }
    }
    for (unsigned i = 0; i < POLLERS && r->rank; i++)
        pthread_join(pollers[i], NULL);
    check(seconds() - begin < MOST_S);
    check((r->rank == 0) == (stats_of(d).packed_bytes > 0));
    ddsm_close(d);
}

/* One rank opens the heap at once, which waits for the other's pack. */
static void pieces_before_a_heap(struct rank *r)
{
    volatile unsigned char *p;
    ddsm_t *d = serving_space(r, &p);
    char *heap = ddsm_alloc(d, 1 << 20, NULL);
    if (r->rank) {
        ok(d, ddsm_lock(d, 0));
        nap(100);
        for (size_t at = 0; at < PIECES_BYTES; at += 2)
            p[at] = 7;
        ok(d, ddsm_unlock(d, 0));
        const ddsm_stats_t s = stats_of(d);
        check(s.packed_bytes > 0 && s.pieces == 0);
    }
    ok(d, ddsm_heap_open(d, heap, 1 << 20));
    ok(d, ddsm_barrier(d));
    check(p[0] == 7 && p[PIECES_BYTES - 2] == 7);
    ddsm_close(d);
}

/* If one rank does not serve, all changes go piece by piece. */
static void one_serves_nobody(struct rank *r)
{
    space_serves_packs = r->rank == 0;
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t there = {.homes = DDSM_ONE, .rank = 1};
    volatile unsigned char *p = ddsm_alloc(d, 4096, &there);
    if (r->rank == 0) {
        ok(d, ddsm_lock(d, 0));
        for (size_t at = 0; at < 4096; at += 2)
            p[at] = 7;
        ok(d, ddsm_unlock(d, 0));
        const ddsm_stats_t s = stats_of(d);
        check(s.packed_bytes == 0 && s.pieces == 2048);
        check(!ddsm_rails_take(d));
        check(strstr(ddsm_last_error(d), "serves_packs"));
    }
    ok(d, ddsm_barrier(d));
    check(p[4094] == 7);
    ddsm_close(d);
}

static drail_config_t tcp;

static void by_tcp(drail_config_t *cfg)
{
    use_rails(cfg, "tcp-a", "tcp-b");
    tcp = *cfg;
    space_rails = &tcp;
}

static const struct test tests[] = {
    {"parts of 3", 3, parts, by_tcp, APART},
    {"bytes of one page", 2, bytes_of_one_page, by_tcp, APART},
    {"locks of 3", 3, locks, by_tcp, APART},
    {"job calls", 2, job_calls, by_tcp, APART},
    {"children end", 2, children_end, by_tcp, APART},
    {"pieces under locks", 3, pieces_under_locks, by_tcp, APART},
    {"pieces of threads", 2, pieces_of_threads, by_tcp, APART},
    {"pieces beside a barrier", 2, pieces_beside_a_barrier, by_tcp, APART},
    {"pieces beside reductions", 2, pieces_beside_reductions, by_tcp, APART},
    {"pieces released", 3, pieces_released, by_tcp, APART},
    {"home polls", 2, home_polls, by_tcp, APART},
    {"pieces before a heap", 2, pieces_before_a_heap, by_tcp, APART},
    {"one serves nobody", 2, one_serves_nobody, by_tcp, APART},
    {"ended in a fault", 3, ended_in_a_fault, by_tcp, APART | FAILS},
    {"home computes", 3, home_computes, by_tcp, APART},
};

RUN_TESTS_OVER_TCP(tests)
