/* SPDX-License-Identifier: BSD-3-Clause */
/* Whichever member is late, a bond keeps the order of one rail: the last byte
 * of a write is written last. */
#include "bond.h"

#include <unistd.h>

#include "member_posts.h"

static const char *const lines[][3] = {
    {"libdapl_shm.so", "a", ""},
    {"libdapl_shm.so", "b", ""},
    {"libdapl_shm.so", "c", ""},
    {"libdapl_bond.so", "bond-two", "a b"},
    {"libdapl_bond.so", "bond-three", "a b c threshold=4K policy=even"},
    {"libdapl_bond.so", "bond-one", "a"},
};
#define ROUNDS 200

static void late_lead(void **state)
{
    posts_delay((unsigned[]){2000, 0});
    bond_stream("bond-two", ROUNDS, NULL);
}

static void late_other(void **state)
{
    posts_delay((unsigned[]){0, 2000});
    bond_stream("bond-two", ROUNDS, NULL);
}

static void late_all(void **state)
{
    posts_delay((unsigned[]){500, 1000});
    bond_stream("bond-three", ROUNDS, NULL);
}

static void one(void **state)
{
    posts_delay((unsigned[]){500, 0});
    bond_stream("bond-one", ROUNDS, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_lead),
        cmocka_unit_test(late_other),
        cmocka_unit_test(late_all),
        cmocka_unit_test(one),
    };
    restart_with_lines(argv, lines, sizeof lines / sizeof *lines);
    int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(getenv("TEST_CONF"));
    return failures;
}
