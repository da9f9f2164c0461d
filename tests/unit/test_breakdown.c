/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/pair/breakdown.c, by hand. */
#include "unit.h"
#include "bench/pair/breakdown.h"

#define RAIL(post, wait, size)                                                 \
    {                                                                          \
        .post_ns = post, .wait_ns = wait, .bytes = size                        \
    }

static void expect(drail_engine_t engine, const drail_rail_time_t *rails,
                   uint64_t post, uint64_t wait)
{
    breakdown_t b = breakdown_of(engine, rails, 2);
    assert_int_equal(b.post_ns, post);
    assert_int_equal(b.wait_ns, wait);
}

static void test_single(void **state)
{
    const drail_rail_time_t rails[2] = {RAIL(10, 30, 8), RAIL(0, 0, 0)};
    expect(DRAIL_ENGINE_SINGLE, rails, 10, 30);
    const drail_rail_time_t second[2] = {RAIL(0, 0, 0), RAIL(10, 30, 8)};
    expect(DRAIL_ENGINE_SINGLE, second, 10, 30);
}

/* Rail 0 waits while rail 1 posts: that isn't counted twice. */
static void test_serial(void **state)
{
    const drail_rail_time_t rails[2] = {RAIL(10, 50, 8), RAIL(20, 15, 8)};
    expect(DRAIL_ENGINE_NONTHREADED, rails, 30, 30);
    const drail_rail_time_t late[2] = {RAIL(10, 22, 8), RAIL(20, 15, 8)};
    expect(DRAIL_ENGINE_NONTHREADED, late, 30, 15);
    const drail_rail_time_t done[2] = {RAIL(10, 5, 8), RAIL(20, 0, 8)};
    expect(DRAIL_ENGINE_NONTHREADED, done, 30, 0);
}

static void test_parallel(void **state)
{
    const drail_rail_time_t rails[2] = {RAIL(10, 50, 8), RAIL(20, 15, 8)};
    expect(DRAIL_ENGINE_THREADED, rails, 10, 50);
    const drail_rail_time_t slow[2] = {RAIL(10, 20, 8), RAIL(20, 15, 8)};
    expect(DRAIL_ENGINE_THREADED, slow, 20, 15);
}

/* A single stripe: the library doesn't wake the team. */
static void test_one_stripe(void **state)
{
    const drail_rail_time_t rails[2] = {RAIL(10, 50, 8), RAIL(20, 15, 0)};
    expect(DRAIL_ENGINE_THREADED, rails, 30, 30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single),
        cmocka_unit_test(test_serial),
        cmocka_unit_test(test_parallel),
        cmocka_unit_test(test_one_stripe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
