/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/options/sizes.c: what --sizes accepts, and what it refuses. */
#include "unit.h"
#include "bench/options/sizes.h"

static uint64_t sizes[SIZES_MAX];
static unsigned count;

static void test_single(void **state)
{
    uint64_t bytes;
    assert_int_equal(size_parse("4K", &bytes), 0);
    assert_int_equal(bytes, 4096);
    assert_int_equal(size_parse("1G", &bytes), 0);
    assert_int_equal(bytes, 1 << 30);
    assert_int_equal(size_parse("0", &bytes), 0);
    assert_int_equal(bytes, 0);
}

static void test_range(void **state)
{
    assert_int_equal(sizes_parse("0:2M", sizes, &count), 0);
    assert_int_equal(count, 23);
    assert_int_equal(sizes[0], 0);
    for (unsigned i = 1; i < count; i++)
        assert_int_equal(sizes[i], UINT64_C(1) << (i - 1));
    assert_int_equal(sizes_parse("8:8", sizes, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(sizes_parse("0:0", sizes, &count), 0);
    assert_int_equal(count, 1);
    assert_int_equal(sizes_parse("3:20", sizes, &count), 0);
    assert_int_equal(count, 3);
    assert_int_equal(sizes[2], 12);
}

static void test_list(void **state)
{
    assert_int_equal(sizes_parse("7,1K,2m", sizes, &count), 0);
    assert_int_equal(count, 3);
    assert_int_equal(sizes[0], 7);
    assert_int_equal(sizes[1], 1024);
    assert_int_equal(sizes[2], 2 << 20);
}

static void test_wrong(void **state)
{
    static const char *const wrong[] = {
        "",       "-1",   "K",   "1X", "1KK",  "1,",
        ",1",     "1,,2", "2:1", "1:", ":1",   "1:2:3",
        "1:2,3",  "2G",   "1.5", " 1", "0x10", "99999999999999999999",
        "1K:1M ",
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (!sizes_parse(wrong[i], sizes, &count))
            fail_msg("'%s' was accepted", wrong[i]);
}

static void test_too_many(void **state)
{
    char text[2 * SIZES_MAX + 3];
    for (unsigned i = 0; i <= SIZES_MAX; i++) {
        text[2 * i] = '1';
        text[2 * i + 1] = ',';
    }
    text[2 * SIZES_MAX + 1] = '\0';
    assert_int_equal(sizes_parse(text, sizes, &count), -1);
    text[2 * SIZES_MAX - 1] = '\0';
    assert_int_equal(sizes_parse(text, sizes, &count), 0);
    assert_int_equal(count, SIZES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single),   cmocka_unit_test(test_range),
        cmocka_unit_test(test_list),     cmocka_unit_test(test_wrong),
        cmocka_unit_test(test_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
