/* SPDX-License-Identifier: BSD-3-Clause */
#include "unit.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/platform/deadline.h"

#define NOW (7000 * MS)

static void short_turns_count(void **state)
{
    struct deadline d = deadline_after(NOW, 250 * MS);
    assert_int_equal(deadline_left(&d), 250 * MS);
    assert_int_equal(deadline_turn(&d, NOW + 100 * MS), 0);
    assert_int_equal(deadline_turn(&d, NOW + 200 * MS), 0);
    assert_int_equal(deadline_left(&d), 50 * MS);
    deadline_turn(&d, NOW + 250 * MS);
    assert_int_equal(deadline_left(&d), 0);
    deadline_turn(&d, NOW + 260 * MS);
    assert_int_equal(deadline_left(&d), 0);
}

/* A turn that took longer counts as one of the longest that do. */
static void a_standstill_does_not(void **state)
{
    struct deadline d = deadline_after(NOW, 250 * MS);
    assert_int_equal(deadline_turn(&d, NOW + 60100 * MS), 60000 * MS);
    assert_int_equal(deadline_left(&d), 150 * MS);
    assert_int_equal(deadline_turn(&d, NOW + 60150 * MS), 0);
    assert_int_equal(deadline_left(&d), 100 * MS);
}

static void never_stays_never(void **state)
{
    struct deadline d = deadline_after(NOW, NEVER);
    deadline_turn(&d, NOW + 60000 * MS);
    assert_true(d.at_ns == NEVER);
    assert_true(deadline_left(&d) > 60000 * MS);
}

/* Time in which a part of it has been looked at counts for the whole, too. */
static void a_part_moves_the_whole(void **state)
{
    struct deadline whole = deadline_after(NOW, 250 * MS);
    struct deadline part = deadline_within(&whole, NOW, 150 * MS);
    deadline_turn(&part, NOW + 80 * MS);
    deadline_turn(&part, NOW + 60180 * MS);
    assert_int_equal(deadline_left(&part), 0);
    assert_int_equal(deadline_turn(&whole, NOW + 60180 * MS), 0);
    assert_int_equal(deadline_left(&whole), 70 * MS);
    part = deadline_within(&whole, NOW + 60180 * MS, 150 * MS);
    assert_int_equal(deadline_left(&part), 70 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_turns_count),
        cmocka_unit_test(a_standstill_does_not),
        cmocka_unit_test(never_stays_never),
        cmocka_unit_test(a_part_moves_the_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
