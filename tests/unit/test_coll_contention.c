/* SPDX-License-Identifier: BSD-3-Clause */
/* coll/run/team/contention.c: does a thread that polls get its whole core? */

#include "unit.h"
#include "coll/run/team/contention.h"

struct play {
    struct drail_platform platform; /* first: hooks get its address */
    uint64_t now, used;
    uint64_t yield_ns, used_ns; /* the time of a yield, and its CPU time */
    uint64_t visit_ns;          /* another program runs for once in a yield */
};

static uint64_t now_hook(const struct drail_platform *p)
{
    return ((const struct play *)p)->now;
}

static uint64_t cpu_hook(const struct drail_platform *p)
{
    return ((const struct play *)p)->used;
}

static void yield_hook(const struct drail_platform *p)
{
    struct play *play = (struct play *)p;
    play->now += play->yield_ns + play->visit_ns;
    play->used += play->used_ns;
    play->visit_ns = 0;
}

static bool found(uint64_t yield_ns, uint64_t used_ns, uint64_t visit_ns)
{
    const uint64_t least = CONTENTION_LOOKS * CONTENTION_LOOK_NS;
    struct play play = {.platform = {.now_ns = now_hook,
                                     .cpu_ns = cpu_hook,
                                     .yield = yield_hook},
                        .now = 12345,
                        .used = 678,
                        .yield_ns = yield_ns,
                        .used_ns = used_ns,
                        .visit_ns = visit_ns};
    const bool contended = contention_found(&play.platform);
    assert_in_range(play.now, 12345 + least,
                    12345 + least + CONTENTION_LOOKS * yield_ns + visit_ns);
    return contended;
}

static void test_alone(void **state)
{
    assert_false(found(400, 400, 0));
    assert_false(found(400, 340, 0)); /* interrupts */
}

static void test_shared(void **state)
{
    assert_true(found(4000, 2000, 0)); /* with one other */
    assert_true(found(4000, 400, 0));
    assert_true(
        found(2 * CONTENTION_LOOK_NS, 400, 0)); /* the other does not yield */
}

static void test_visited(void **state)
{
    assert_false(found(400, 400, 600000));
    assert_false(found(400, 400, 5000000));
    assert_true(found(4000, 2000, 5000000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_visited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
