/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread that watches connections detects a standstill of the machine. */
#include "unit.h"
#include "dapl_rail/platform/standstill.h"

#define LOOK   7000000000u
#define MINUTE 60000000000u

static void lateness_is_none(void **state)
{
    assert_int_equal(standstill_since(LOOK, LOOK - 1), 0);
    assert_int_equal(standstill_since(LOOK, LOOK + STANDSTILL_LOOK_NS), 0);
    assert_int_equal(standstill_since(LOOK, LOOK + STANDSTILL_LOOK_NS + MINUTE),
                     MINUTE);
}

static void nor_is_the_time_before_it_looked(void **state)
{
    assert_int_equal(standstill_since(0, MINUTE), 0);
    assert_int_equal(standstill_since(UINT64_MAX, MINUTE), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lateness_is_none),
        cmocka_unit_test(nor_is_the_time_before_it_looked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
