/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies that find no cache: whole, nothing around them touched, both ways in
 * turn, from either end; and none of them where the first piece is fast. Who
 * polls the first word finds it whole. */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "unit.h"
#include "providers/shm/memory/copy.h"
#include "providers/shm/shm.h"

#define MEMORY (200u << 10)
#define PIECE  16384.f
#define ALWAYS (499.f / PIECE) /* ns per byte in caches: others are slow */
#define NEVER  (501.f / PIECE)

static uint64_t now, step = 1000; /* ns of each look at the clock */

int clock_gettime(clockid_t id, struct timespec *t)
{
    now += step;
    *t = (struct timespec){.tv_sec = (time_t)(now / 1000000000u),
                           .tv_nsec = (long)(now % 1000000000u)};
    return 0;
}

static unsigned char from[MEMORY], to[MEMORY], wanted[MEMORY];

static void copy_as(const struct shm_manner *manner, size_t at, size_t n)
{
    for (size_t i = 0; i < MEMORY; i++)
        from[i] = (unsigned char)(i * 7 + i / 251 + n);
    memset(to, 0xee, MEMORY);
    memset(wanted, 0xee, MEMORY);
    memcpy(wanted + at, from + at / 2, n);
    shm_copy(to + at, from + at / 2, n, manner);
    assert_memory_equal(to, wanted, MEMORY);
}

static void copy_one(struct shm_cold *cold, float warm, size_t at, size_t n)
{
    const struct shm_manner manner = {.warm = warm, .cold = cold};
    copy_as(&manner, at, n);
}

static const size_t lengths[] = {1,     64,    16383,  16384,  32767,  32768,
                                 32769, 34816, 100000, 131072, 131137, 150001};

static void exact(void **state)
{
    struct shm_cold cold = {0};
    for (size_t i = 0; i < 10 * sizeof lengths / sizeof *lengths; i++)
        copy_one(&cold, ALWAYS, i % 130, lengths[i % 12]);
    assert_int_equal(cold.copies, 70); /* of 32768 bytes and more */
}

static void exact_backward(void **state)
{
    static const float warm[] = {ALWAYS, NEVER};
    struct shm_cold cold = {0};
    const struct shm_manner plain = {.backward = true};
    for (size_t i = 0; i < 10 * sizeof lengths / sizeof *lengths; i++) {
        struct shm_manner manner = {
            .backward = true, .warm = warm[i % 2], .cold = &cold};
        copy_as(&manner, i % 130, lengths[i % 12]);
        copy_as(&plain, i % 130, lengths[i % 12]);
    }
}

/* Only of the same source in a row, every second one. */
static void swings(void **state)
{
    struct shm_swing last = {0};
    size_t least = SHM_SWING_LEAST, most = SHM_SWING_MOST - 1;
    assert_false(shm_swings(&last, from, least));
    assert_true(shm_swings(&last, from, least));
    assert_false(shm_swings(&last, from, most));
    assert_false(shm_swings(&last, from, least - 1)); /* not counted */
    assert_false(shm_swings(&last, from, most + 1));
    assert_true(shm_swings(&last, from, least));
    assert_false(shm_swings(&last, from + 1, least));
    assert_false(shm_swings(&last, from, least));
    assert_true(shm_swings(&last, from, least));
}

static void not_in_caches(void **state)
{
    struct shm_cold cold = {0};
    for (int i = 0; i < 50; i++)
        copy_one(&cold, NEVER, 3, 150001);
    assert_int_equal(cold.copies, 0);
}

/* A new trial forgets what was learnt. */
static void learnt_anew(void **state)
{
    struct shm_cold cold = {.copies = 1024, .cost = {1e-9f, 1e-9f}};
    for (int i = 0; i < 32; i++) {
        step = 2000 - 10 * (uint64_t)i;
        copy_one(&cold, ALWAYS, 0, 65536);
    }
    step = 1;
    for (int i = 0; i < 900; i++) /* nothing is learnt of these */
        copy_one(&cold, ALWAYS / 10000, 0, 65536);
    step = 1000;
    assert_float_equal(cold.cost[0], 1850 / (65536 - PIECE), 1e-6);
    assert_float_equal(cold.cost[1], 1690 / (65536 - PIECE), 1e-6);
}

static _Alignas(64) _Atomic uint64_t words[4032 / 8];
static atomic_uint torn;
static atomic_bool polls, over;

static void *poll_first(void *arg)
{
    for (; !atomic_load(&over); atomic_store(&polls, true)) {
        uint64_t word = atomic_load(&words[0]);
        torn += (uint32_t)word != word >> 32;
    }
    return arg;
}

/* Of a piece of a long write to a whole line. The source lies up to 4 bytes
 * before the target within a line: there `rep movsb` stores words in parts. */
static void first_word(void **state)
{
    struct shm_cold cold = {0};
    const struct shm_manner manner = {.warm = ALWAYS, .cold = &cold};
    static _Alignas(64) unsigned char source[64 + sizeof words];
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, poll_first, NULL), 0);
    while (!atomic_load(&polls))
        ;
    for (uint32_t round = 0; round < 200000; round++) {
        unsigned char *at = source + 64 - round / 50000 - 1;
        memset(at, (int)(round % 256), sizeof words);
        shm_copy_ordered(words, at, sizeof words, &manner);
    }
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    assert_int_equal(torn, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact),       cmocka_unit_test(exact_backward),
        cmocka_unit_test(swings),      cmocka_unit_test(not_in_caches),
        cmocka_unit_test(learnt_anew), cmocka_unit_test(first_word),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
