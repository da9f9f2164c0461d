/* SPDX-License-Identifier: BSD-3-Clause */
/* The heap of distributed shared memory: nothing is lost, whoever frees it. */
#include <errno.h>
#include <pthread.h>

#include "dsm_scene.h"

static ddsm_t *heap(struct rank *r, size_t bytes)
{
    const ddsm_place_t at = {.homes = DDSM_ONE, .kind = DDSM_MOVING};
    ddsm_t *d = space(r, bytes, 32);
    void *start = ddsm_alloc(d, bytes, &at);
    check(start);
    ok(d, ddsm_heap_open(d, start, bytes));
    return d;
}

/* A block is filled with a mark, which is checked before it is freed. */
struct block {
    unsigned char *p;
    uint32_t bytes;
    unsigned char mark;
};

static void fill(struct block *b)
{
    memset(b->p, b->mark, b->bytes);
}

static void verify(const struct block *b)
{
    for (size_t i = 0; i < b->bytes; i++)
        check(b->p[i] == b->mark);
}

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static uint32_t some_bytes(uint32_t *seed)
{
    const uint32_t n = next(seed);
    return n % 50 == 0 ? n % 200000 : n % 7 == 0 ? n % 9000 : n % 300;
}

/* Allocates, changes and frees blocks of random sizes. */
static void churn(ddsm_t *d, uint32_t seed, unsigned times)
{
    enum { KEPT = 100 };
    struct block kept[KEPT] = {{0}};
    for (unsigned i = 0; i < times; i++) {
        struct block *b = &kept[next(&seed) % KEPT];
        if (b->p && next(&seed) % 4 == 0) {
            const uint32_t before = b->bytes, now = some_bytes(&seed);
            b->p = ddsm_realloc(d, b->p, now);
            check(b->p);
            b->bytes = before < now ? before : now;
            verify(b);
            b->bytes = now;
            fill(b);
            continue;
        }
        if (b->p)
            verify(b);
        ddsm_free(d, b->p);
        const uint32_t align = 16u << next(&seed) % 10;
        *b = (struct block){.bytes = some_bytes(&seed),
                            .mark = (unsigned char)next(&seed)};
        if (i % 3 == 0) {
            b->p = ddsm_calloc(d, 1, b->bytes);
            check(b->p);
            const struct block zero = {b->p, b->bytes, 0};
            verify(&zero);
        } else if (i % 3 == 1) {
            b->p = ddsm_aligned_alloc(d, align, b->bytes);
            check(b->p && (uintptr_t)b->p % align == 0);
        } else {
            b->p = ddsm_malloc(d, b->bytes);
        }
        check(b->p && (uintptr_t)b->p % 16 == 0);
        check(ddsm_usable_bytes(d, b->p) >= b->bytes);
        fill(b);
    }
    for (unsigned i = 0; i < KEPT; i++) {
        if (kept[i].p)
            verify(&kept[i]);
        ddsm_free(d, kept[i].p);
    }
}

struct worker {
    ddsm_t *d;
    uint32_t seed;
};

static void *work(void *arg)
{
    const struct worker *w = arg;
    churn(w->d, w->seed, 1500);
    return NULL;
}

static void threads_churn(struct rank *r)
{
    ddsm_t *d = heap(r, 32 << 20);
    struct worker w[2] = {{d, 1 + r->rank}, {d, 100 + r->rank}};
    pthread_t other;
    check(pthread_create(&other, NULL, work, &w[1]) == 0);
    work(&w[0]);
    pthread_join(other, NULL);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

/* Blocks go around: each rank frees what the rank before it has allocated, and
 * in all they allocate far more than there is. */
static void passed_on(struct rank *r)
{
    enum { BLOCKS = 300, ROUNDS = 60 };
    ddsm_t *d = heap(r, 16 << 20);
    uint32_t seed = r->rank + 1;
    struct block **table = NULL;
    char note[DDSM_NOTE_BYTES] = {0}, notes[8][DDSM_NOTE_BYTES];
    if (r->rank == 0)
        table = ddsm_calloc(d, r->size, sizeof *table);
    memcpy(note, &table, sizeof table);
    ok(d, ddsm_barrier_note(d, note, notes));
    memcpy(&table, notes[0], sizeof table);
    table[r->rank] = ddsm_calloc(d, BLOCKS, sizeof **table);
    check(table[r->rank]);
    ok(d, ddsm_barrier(d));
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct block *to = table[r->rank];
        for (unsigned i = 0; i < BLOCKS; i++) {
            to[i] = (struct block){.bytes = next(&seed) % 5000,
                                   .mark = (unsigned char)(round + i)};
            to[i].p = i % 2 ? ddsm_malloc(d, to[i].bytes)
                            : ddsm_calloc(d, 1, to[i].bytes);
            check(to[i].p);
            const struct block zero = {to[i].p, to[i].bytes, 0};
            if (i % 2 == 0)
                verify(&zero);
            fill(&to[i]);
        }
        ok(d, ddsm_barrier(d));
        struct block *from = table[(r->rank + 1) % r->size];
        for (unsigned i = 0; i < BLOCKS; i++) {
            check(ddsm_heap_has(d, from[i].p));
            check(ddsm_usable_bytes(d, from[i].p) >= from[i].bytes);
            verify(&from[i]);
            from[i].mark++;
            fill(&from[i]);
            if (i % 8 == 3)
                from[i].p = ddsm_realloc(d, from[i].p, from[i].bytes * 3);
            verify(&from[i]);
            ddsm_free(d, from[i].p);
        }
        if (round % 3)
            ok(d, ddsm_release(d));
        if (round % 3 == 1)
            ok(d, ddsm_flush(d));
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

/* What another rank has freed is used again soon, not only when no memory is
 * left. */
static void used_again(struct rank *r)
{
    ddsm_t *d = heap(r, 16 << 20);
    char note[DDSM_NOTE_BYTES] = {0}, notes[2][DDSM_NOTE_BYTES];
    void *before = NULL;
    for (unsigned i = 0; i < 5; i++) {
        void *p = r->rank ? NULL : ddsm_malloc(d, 1 << 18);
        check(r->rank || (p && (!before || p == before)));
        before = p;
        memcpy(note, &p, sizeof p);
        ok(d, ddsm_barrier_note(d, note, notes));
        memcpy(&p, notes[0], sizeof p);
        if (r->rank)
            ddsm_free(d, p);
        ok(d, ddsm_barrier(d));
    }
    ddsm_close(d);
}

static void no_room(struct rank *r)
{
    ddsm_t *d = heap(r, 1 << 20);
    void *block[9] = {0};
    expect(r, DRAIL_EINVAL, ddsm_heap_open(d, ddsm_base(d), 1 << 20));
    errno = 0;
    check(!ddsm_malloc(d, 1 << 20) && errno == ENOMEM);
    check(!ddsm_calloc(d, SIZE_MAX / 2, 3));
    check(!ddsm_aligned_alloc(d, 24, 24));
    check(!ddsm_malloc(d, SIZE_MAX) && !ddsm_malloc(d, SIZE_MAX / 2));
    for (unsigned i = 0; i < 8; i++)
        check((block[i] = ddsm_malloc(d, 1 << 16)));
    check(!ddsm_malloc(d, 1));
    for (unsigned i = 0; i < 8; i++)
        ddsm_free(d, block[i]);
    check((block[0] = ddsm_malloc(d, 1 << 19)));
    ddsm_free(d, block[0]);
    ddsm_free(d, NULL);
    check(!ddsm_heap_has(d, &d) && ddsm_usable_bytes(d, &d) == 0);
    ok(d, ddsm_barrier(d));
    ddsm_close(d);
}

static const struct test tests[] = {
    {"random sizes, two threads a rank", 3, threads_churn, NULL, APART},
    {"blocks are passed on", 3, passed_on, NULL, APART},
    {"used again", 2, used_again, NULL, APART},
    {"no room", 2, no_room, NULL, APART},
};

RUN_TESTS(tests)
