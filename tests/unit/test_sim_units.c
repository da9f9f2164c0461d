/* SPDX-License-Identifier: BSD-3-Clause */
/* providers/sim: numbers with units. */
#include <locale.h>
#include "unit.h"
#include "providers/sim/reader/units.h"

static double value_of(const char *text, enum sim_unit_kind kind)
{
    double value = -1;
    assert_null(sim_units_parse(text, kind, &value));
    return value;
}

static void expect_wrong(const char *text, enum sim_unit_kind kind,
                         const char *wrong)
{
    double value;
    const char *said = sim_units_parse(text, kind, &value);
    assert_non_null(said);
    assert_string_equal(said, wrong);
}

static void test_values(void **state)
{
    assert_true(value_of("1.5 us", SIM_TIME) == 1.5 / 1e6);
    assert_true(value_of("250ns", SIM_TIME) == 250 / 1e9);
    assert_true(value_of("0 us", SIM_TIME) == 0);
    assert_true(value_of("900 MB/s", SIM_RATE) == 900e6);
    assert_true(value_of("2.0\tGB/s", SIM_RATE) == 2e9);
    assert_true(value_of("400 Gbit/s", SIM_RATE) == 50e9);
    assert_true(value_of("64 bytes", SIM_BYTES) == 64);
    assert_true(value_of("16", SIM_COUNT) == 16);
    assert_true(value_of(".5 us", SIM_TIME) == .5 / 1e6);
}

/* As near as the text itself, also with as many digits as are allowed. */
static void test_exact(void **state)
{
    assert_true(value_of("23.2558139534884 MB/s", SIM_RATE) ==
                23.2558139534884 * 1e6);
    expect_wrong("23.25581395348841 MB/s", SIM_RATE,
                 "is not a number of at most 15 digits");
}

static void test_locale(void **state)
{
    /* a decimal comma, where there is such a locale */
    setlocale(LC_NUMERIC, "de_DE.UTF-8");
    assert_true(value_of("1.5 us", SIM_TIME) == 1.5 / 1e6);
    expect_wrong("1,5 us", SIM_TIME, "has another unit");
    setlocale(LC_NUMERIC, "C");
}

static void test_wrong(void **state)
{
    expect_wrong("100", SIM_RATE, "has no unit");
    expect_wrong("100 ", SIM_TIME, "has no unit");
    expect_wrong("100 KB/s", SIM_RATE, "has another unit");
    expect_wrong("100 us", SIM_RATE, "has another unit");
    expect_wrong("100 MB/sec", SIM_RATE, "has another unit");
    expect_wrong("1 ms", SIM_TIME, "has another unit");
    expect_wrong("16 us", SIM_COUNT, "has a unit");
    expect_wrong("0 MB/s", SIM_RATE, "is zero");
    expect_wrong("0.0001 MB/s", SIM_RATE, "is too small");
    expect_wrong("0", SIM_COUNT, "is zero");
    expect_wrong("2000000 GB/s", SIM_RATE, "is too large");
    expect_wrong("1000001 us", SIM_TIME, "is too large");
    expect_wrong("1.5", SIM_COUNT, "is not whole");
    expect_wrong("2.5 bytes", SIM_BYTES, "is not whole");
    const char *no[] = {"",       "us", "-1 us",  "+1 us",
                        "nan us", ".",  "inf us", "MB/s"};
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        expect_wrong(no[i], SIM_TIME, "is not a number of at most 15 digits");
    expect_wrong("1e3 us", SIM_TIME, "has another unit");
    expect_wrong("0x10 us", SIM_TIME, "has another unit");
    expect_wrong("1.5.2 us", SIM_TIME, "has another unit");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_locale),
        cmocka_unit_test(test_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
