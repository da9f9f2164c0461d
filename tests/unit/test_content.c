/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/pair/content.c: validation finds every single wrong byte. */
#include "unit.h"
#include "bench/pair/content.h"

#define GUARD 64
#define BYTES 1000

static uint8_t source[BYTES], area[GUARD + BYTES + GUARD];
static uint8_t *const target = area + GUARD;

static void deliver(uint64_t seed)
{
    content_fill(source, BYTES, seed);
    content_prepare(target, BYTES, GUARD, seed);
    memcpy(target, source, BYTES);
}

static void test_intact(void **state)
{
    deliver(42);
    assert_true(content_check(target, BYTES, GUARD, 42).offset == DEFECT_NONE);
    assert_true(content_check(target, BYTES, GUARD, 43).offset != DEFECT_NONE);
}

static void test_every_byte(void **state)
{
    for (int i = -GUARD; i < BYTES + GUARD; i++) {
        deliver(7);
        target[i] ^= 1;
        defect_t defect = content_check(target, BYTES, GUARD, 7);
        assert_int_equal(defect.offset, i);
        assert_int_equal(defect.expected ^ 1, defect.found);
    }
}

/* A byte that never arrives differs from what it should be. */
static void test_nothing_arrives(void **state)
{
    content_fill(source, BYTES, 9);
    content_prepare(target, BYTES, GUARD, 9);
    for (unsigned i = 0; i < BYTES; i++)
        assert_int_not_equal(source[i], target[i]);
}

static void test_no_bytes(void **state)
{
    content_prepare(target, 0, GUARD, 5);
    assert_true(content_check(target, 0, GUARD, 5).offset == DEFECT_NONE);
    target[0] ^= 0x80;
    assert_int_equal(content_check(target, 0, GUARD, 5).offset, 0);
}

static void test_seeds_differ(void **state)
{
    uint64_t a = content_seed(), b = content_seed();
    assert_true(a && b && a != b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_intact),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_nothing_arrives),
        cmocka_unit_test(test_no_bytes),
        cmocka_unit_test(test_seeds_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
