/* SPDX-License-Identifier: BSD-3-Clause */
/* coll/run/team/cores.c: which ranks share cores. */
#include "unit.h"
#include "coll/run/team/cores.h"

/* Cores as bits. */
static struct cores on(uint64_t host, unsigned cores)
{
    struct cores c = {.host = host};
    CPU_ZERO(&c.allowed);
    for (unsigned i = 0; i < 32; i++)
        if (cores >> i & 1)
            CPU_SET(i, &c.allowed);
    return c;
}

static void test_as_many_as_cores(void **state)
{
    const struct cores all[] = {on(1, 3), on(1, 3), on(1, 3)};
    assert_false(cores_oversubscribed(all, 1, 0));
    assert_false(cores_oversubscribed(all, 2, 0));
    assert_true(cores_oversubscribed(all, 3, 0));
}

/* A machine of many cores is of no use to those bound to one of them. */
static void test_bound_to_one(void **state)
{
    const struct cores all[] = {on(1, 1), on(1, 1), on(1, 0xfe)};
    assert_true(cores_oversubscribed(all, 3, 0));
    assert_true(cores_oversubscribed(all, 3, 1));
    assert_false(cores_oversubscribed(all, 3, 2));
}

static void test_bound_apart(void **state)
{
    const struct cores all[] = {on(1, 1), on(1, 2)};
    assert_false(cores_oversubscribed(all, 2, 0));
    assert_false(cores_oversubscribed(all, 2, 1));
}

/* Also while a third may run anywhere. */
static void test_bound_beside_free(void **state)
{
    const struct cores all[] = {on(1, 1), on(1, 1), on(1, 0xf)};
    assert_true(cores_oversubscribed(all, 3, 0));
    assert_true(cores_oversubscribed(all, 3, 1));
    assert_false(cores_oversubscribed(all, 3, 2));
}

/* Other hosts have cores with the same numbers. */
static void test_hosts(void **state)
{
    const struct cores all[] = {on(1, 3), on(2, 3), on(1, 3), on(2, 3)};
    for (unsigned rank = 0; rank < 4; rank++)
        assert_false(cores_oversubscribed(all, 4, rank));
    for (unsigned rank = 0; rank < 4; rank++)
        assert_true(cores_several_hosts(all, 4, rank));
    assert_false(cores_several_hosts(all, 1, 0));
}

/* By the core, whatever the number of ranks and cores is; in order. */
static void test_beside(void **state)
{
    const struct cores all[] = {on(1, 1), on(1, 2), on(1, 1),
                                on(1, 2), on(1, 3), on(2, 3)};
    unsigned beside[6] = {0};
    assert_int_equal(cores_sharers(all, 6, 0, beside), 2);
    assert_int_equal(beside[0], 2);
    assert_int_equal(beside[1], 4);
    assert_int_equal(cores_sharers(all, 6, 4, beside), 4);
    assert_int_equal(beside[3], 3);
    assert_int_equal(cores_sharers(all, 6, 5, beside), 0);
    assert_int_equal(cores_sharers(all, 1, 0, beside), 0);
}

static void test_this_thread(void **state)
{
    struct cores mine[2];
    cpu_set_t before, one;
    unsigned core = 0;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(core, &before))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    cores_find(&mine[0]);
    cores_find(&mine[1]);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(mine[0].host, mine[1].host);
    assert_false(cores_oversubscribed(mine, 1, 0));
    assert_true(cores_oversubscribed(mine, 2, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_many_as_cores),
        cmocka_unit_test(test_bound_to_one),
        cmocka_unit_test(test_bound_apart),
        cmocka_unit_test(test_bound_beside_free),
        cmocka_unit_test(test_hosts),
        cmocka_unit_test(test_beside),
        cmocka_unit_test(test_this_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
