/* SPDX-License-Identifier: BSD-3-Clause */
/* Distributed shared memory: atomics, and locks that words name. */
#include <pthread.h>

#include "dsm_scene.h"

enum { PAGE = 4096, TIMES = 400 };

static uint64_t atomic_of(ddsm_t *d, ddsm_atomic_t op, volatile void *word,
                          size_t bytes, uint64_t operand, uint64_t expected)
{
    uint64_t old = 0;
    ok(d, ddsm_atomic(d, op, (void *)word, bytes, operand, expected, &old));
    return old;
}

/* Counters of all sizes side by side, of all kinds of pages, while each rank
 * also writes plain neighbours in the same 8 bytes and pages. */
static void counters(struct rank *r)
{
    struct block {
        uint8_t one[8];
        uint16_t two[4];
        uint32_t four[2];
        uint64_t eight;
        uint8_t plain[64];
    };
    ddsm_t *d = space(r, 1 << 20, 8);
    for (int kind = DDSM_FIXED; kind <= DDSM_OPEN; kind++) {
        const ddsm_place_t at = {.homes = DDSM_CYCLIC,
                                 .kind = (ddsm_kind_t)kind};
        volatile struct block *b = ddsm_alloc(d, 3 * PAGE, &at);
        for (unsigned page = 0; page < 3; page++) {
            volatile struct block *at_page = b + page * (PAGE / sizeof *b);
            uint64_t sum = 0, last = 0;
            for (unsigned i = 0; i < TIMES; i++) {
                at_page->plain[r->rank]++;
                at_page->one[1 + r->rank] = (uint8_t)i;
                atomic_of(d, DDSM_ADD, &at_page->one[0], 1, 3, 0);
                atomic_of(d, DDSM_ADD, &at_page->two[1], 2, 0xffff, 0);
                atomic_of(d, DDSM_ADD, &at_page->four[1], 4, i, 0);
                last = atomic_of(d, DDSM_ADD, &at_page->eight, 8, i + 1, 0);
                check(last >= sum);
                sum = last + i + 1;
                check(at_page->eight >= sum); /* a plain read, too */
                if (i % 100 == r->rank)
                    ok(d, ddsm_flush(d));
            }
            ok(d, ddsm_barrier(d));
            const uint64_t n = r->size;
            check(at_page->one[0] == (uint8_t)(3 * TIMES * n));
            check(at_page->two[1] == (uint16_t)(0 - TIMES * n));
            check(at_page->two[0] == 0 && at_page->two[2] == 0);
            check(at_page->four[1] == n * TIMES * (TIMES - 1) / 2);
            check(at_page->four[0] == 0);
            check(at_page->eight == n * TIMES * (TIMES + 1) / 2);
            for (unsigned k = 0; k < n; k++)
                check(at_page->plain[k] == (uint8_t)TIMES &&
                      at_page->one[1 + k] == (uint8_t)(TIMES - 1));
            ok(d, ddsm_barrier(d));
        }
    }
    ddsm_close(d);
}

static void operations(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = r->size - 1};
    volatile uint32_t *w = ddsm_alloc(d, PAGE, &at);
    if (r->rank == 0) {
        w[0] = 7; /* goes home before the atomic */
        check(atomic_of(d, DDSM_ADD, w, 4, 1, 0) == 7 && w[0] == 8);
        check(atomic_of(d, DDSM_LOAD, w, 4, 0, 0) == 8);
        atomic_of(d, DDSM_STORE, w, 4, 0xf0f0, 0);
        check(atomic_of(d, DDSM_AND, w, 4, 0xff00, 0) == 0xf0f0);
        check(atomic_of(d, DDSM_OR, w, 4, 3, 0) == 0xf000);
        check(atomic_of(d, DDSM_XOR, w, 4, 1, 0) == 0xf003);
        check(atomic_of(d, DDSM_EXCHANGE, w, 4, 5, 0) == 0xf002);
        check(atomic_of(d, DDSM_COMPARE_SWAP, w, 4, 9, 6) == 5 && w[0] == 5);
        check(atomic_of(d, DDSM_COMPARE_SWAP, w, 4, 9, ~0xffffffffull | 5) ==
              5);
        check(w[0] == 9);
    }
    ok(d, ddsm_barrier(d));
    check(w[0] == 9);
    expect(r, DRAIL_EINVAL,
           ddsm_atomic(d, DDSM_LOAD, (char *)w + 1, 4, 0, 0, NULL));
    expect(r, DRAIL_EINVAL,
           ddsm_atomic(d, DDSM_LOAD, (void *)w, 3, 0, 0, NULL));
    expect(r, DRAIL_EINVAL, ddsm_atomic(d, DDSM_LOAD, &d, 8, 0, 0, NULL));
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* A lock of its own, by compare-and-swap, with release and acquire. */
static void spin_lock(struct rank *r)
{
    const ddsm_place_t at = {.homes = DDSM_CYCLIC, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile uint32_t *word = ddsm_alloc(d, PAGE, &at);
    volatile uint64_t *sum = ddsm_alloc(d, PAGE, &at);
    for (unsigned i = 0; i < 100; i++) {
        while (atomic_of(d, DDSM_COMPARE_SWAP, word, 4, 1, 0))
            usleep(10);
        ok(d, ddsm_acquire(d));
        sum[0] += i;
        ok(d, ddsm_release(d));
        atomic_of(d, DDSM_STORE, word, 4, 0, 0);
    }
    ok(d, ddsm_barrier(d));
    check(sum[0] == (uint64_t)r->size * 4950);
    ddsm_close(d);
}

/* ------------------------------------------------- locks in the memory --- */

struct table {
    ddsm_t *d;
    uint32_t *lock;
    volatile uint64_t *count;
};

static void *take_turns(void *arg)
{
    const struct table *t = arg;
    for (unsigned i = 0; i < 60; i++) {
        uint32_t *lock = &t->lock[i % 3];
        int rc;
        if (i % 2)
            while ((rc = ddsm_trylock_at(t->d, lock)) == DRAIL_EAGAIN)
                sched_yield();
        else
            rc = ddsm_lock_at(t->d, lock);
        ok(t->d, rc);
        t->count[i % 3]++;
        ok(t->d, ddsm_unlock_at(t->d, lock));
    }
    return NULL;
}

/* Two threads of each rank. */
static void locks_at(struct rank *r)
{
    struct table t = {.d = space(r, 1 << 20, 0)};
    pthread_t other;
    t.lock = ddsm_alloc(t.d, PAGE, NULL);
    t.count = ddsm_alloc(t.d, PAGE, NULL);
    for (unsigned round = 1; round <= 2; round++) {
        check(pthread_create(&other, NULL, take_turns, &t) == 0);
        take_turns(&t);
        pthread_join(other, NULL);
        ok(t.d, ddsm_barrier(t.d));
        for (unsigned i = 0; i < 3; i++)
            check(t.count[i] == round * r->size * 2 * 20);
        check(t.lock[0] && t.lock[0] != t.lock[1]);
        ok(t.d, ddsm_barrier(t.d));
        if (r->rank == r->size - 1)
            ok(t.d, ddsm_lock_end(t.d, &t.lock[1]));
        ok(t.d, ddsm_barrier(t.d));
        check(t.lock[1] == 0);
        ok(t.d, ddsm_barrier(t.d));
    }
    /* their numbers are known, though other ranks have written the page */
    for (unsigned i = 0; i < 10; i++) {
        ddsm_stats_t before, after;
        t.lock[32 + r->rank] = i;
        ok(t.d, ddsm_barrier(t.d));
        ddsm_stats(t.d, &before);
        ok(t.d, ddsm_lock_at(t.d, &t.lock[0]));
        ok(t.d, ddsm_unlock_at(t.d, &t.lock[0]));
        ddsm_stats(t.d, &after);
        check(i == 0 || after.read_faults == before.read_faults);
    }
    ok(t.d, ddsm_barrier(t.d)); /* the end of a lock makes ranks forget */
    /* numbers of locks that have ended are used again */
    for (unsigned i = 0; i < 500; i++) {
        uint32_t *own = &t.lock[16 + r->rank];
        ok(t.d, ddsm_lock_at(t.d, own));
        expect(r, DRAIL_EAGAIN, ddsm_trylock_at(t.d, own));
        ok(t.d, ddsm_unlock_at(t.d, own));
        ok(t.d, ddsm_lock_end(t.d, own));
    }
    ok(t.d, ddsm_barrier(t.d));
    ddsm_close(t.d);
}

/* A word becomes another lock without the end of the first one, whose number
 * only one rank knows. */
static void begin_again(struct rank *r, ddsm_t *d, unsigned knows)
{
    enum { TURNS = 3000 };
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    uint32_t *lock = ddsm_alloc(d, PAGE, &at);
    volatile unsigned *count = ddsm_alloc(d, PAGE, &at);
    for (unsigned round = 1; round <= 2; round++) {
        if (r->rank == 0)
            ok(d, ddsm_lock_begin(d, lock));
        ok(d, ddsm_barrier(d));
        for (unsigned i = 0; i < TURNS && (round == 2 || r->rank == knows);
             i++) {
            ok(d, ddsm_lock_at(d, lock));
            ++*count;
            ok(d, ddsm_unlock_at(d, lock));
        }
        ok(d, ddsm_barrier(d));
        check(*count == TURNS * (round == 1 ? 1 : 1 + r->size));
        ok(d, ddsm_barrier(d));
    }
}

static void lock_begins_again(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 20, 0);
    begin_again(r, d, 0); /* that begins it again */
    begin_again(r, d, 1);
    ddsm_close(d);
}

static void numbers_run_out(struct rank *r)
{
    ddsm_t *d = space(r, 1 << 16, 0); /* 64 locks: 32 numbers */
    uint32_t *lock = ddsm_alloc(d, PAGE, NULL);
    for (unsigned i = 0; i < 32 && r->rank == 0; i++) {
        ok(d, ddsm_lock_at(d, &lock[i]));
        ok(d, ddsm_unlock_at(d, &lock[i]));
    }
    if (r->rank == 0) {
        expect(r, DRAIL_ENOMEM, ddsm_lock_at(d, &lock[32]));
        expect(r, DRAIL_EINVAL, ddsm_unlock_at(d, &lock[0]));
        ok(d, ddsm_lock_end(d, &lock[5]));
        ok(d, ddsm_lock_at(d, &lock[32]));
        ok(d, ddsm_unlock_at(d, &lock[32]));
    }
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

static void by_message(drail_config_t *cfg)
{
    setenv("DRAIL_EXTENSIONS", "0", 1);
}

/* An atomic brings home what the rank has written to the word before. Nothing
 * else of the page has changed, but copies are old all the same. */
static void written_then_loaded(struct rank *r)
{
    const ddsm_place_t at = {.homes = DDSM_ONE, .rank = 0};
    ddsm_t *d = space(r, 1 << 20, 0);
    volatile uint32_t *word = ddsm_alloc(d, PAGE, &at);
    for (unsigned round = 1; round <= 5; round++) {
        check(*word == round - 1);
        ok(d, ddsm_barrier(d));
        if (r->rank == 1) {
            *word = round;
            check(atomic_of(d, DDSM_LOAD, word, 4, 0, 0) == round);
        }
        ok(d, ddsm_barrier(d));
        check(*word == round);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

static const struct test tests[] = {
    {"written, then loaded", 3, written_then_loaded, NULL, APART},
    {"counters of all sizes and kinds", 3, counters, NULL, APART},
    {"operations", 2, operations, NULL, APART},
    {"a lock by compare-and-swap", 3, spin_lock, NULL, APART},
    {"locks that words name", 3, locks_at, NULL, APART},
    {"a lock begins again", 2, lock_begins_again, NULL, APART},
    {"numbers of locks run out", 2, numbers_run_out, NULL, APART},
    {"operations by message", 2, operations, by_message, APART},
};

RUN_TESTS(tests)
