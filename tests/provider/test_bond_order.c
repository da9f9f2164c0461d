/* SPDX-License-Identifier: BSD-3-Clause */
/* Over rails of different latencies and rates, a bond keeps the order of one
 * rail: the last byte of a write is written last. */
#include "bond.h"

#include <unistd.h>

static const char *const lines[][3] = {
    {"libdapl_shm.so", "late", "rate=4000 latency=300"},
    {"libdapl_shm.so", "slow", "rate=400 latency=5"},
    {"libdapl_shm.so", "quick", "rate=4000 latency=5"},
    {"libdapl_bond.so", "late-first", "late slow"},
    {"libdapl_bond.so", "slow-first", "slow late policy=even"},
    {"libdapl_bond.so", "three", "quick late slow threshold=4K"},
    {"libdapl_bond.so", "one", "quick"},
};

static void late_first(void **state)
{
    bond_stream("late-first", 300, NULL);
}

static void slow_first(void **state)
{
    bond_stream("slow-first", 300, NULL);
}

static void three(void **state)
{
    bond_stream("three", 300, NULL);
}

static void one(void **state)
{
    bond_stream("one", 300, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_first),
        cmocka_unit_test(slow_first),
        cmocka_unit_test(three),
        cmocka_unit_test(one),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(getenv("TEST_CONF"));
    return failures;
}
