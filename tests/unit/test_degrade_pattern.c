/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/degrade/pattern.c: a byte of another message is seen, wherever. */
#include "unit.h"
#include "bench/degrade/pattern.h"

#define MOST 100

static void each_byte(void **state)
{
    uint64_t *pattern = pattern_new(MOST, 5);
    _Alignas(8) uint8_t one[MOST], other[MOST];
    assert_non_null(pattern);
    for (size_t bytes = 0; bytes <= MOST; bytes++)
        for (uint64_t number = 0; number < 20; number++) {
            pattern_fill(one, pattern, bytes, number);
            assert_true(pattern_is(one, pattern, bytes, number));
            pattern_fill(other, pattern, bytes, number + 1);
            assert_int_equal(pattern_is(other, pattern, bytes, number), !bytes);
            for (size_t i = 0; i < bytes; i++) {
                one[i] ^= 0x10;
                assert_false(pattern_is(one, pattern, bytes, number));
                one[i] ^= 0x10;
            }
        }
    free(pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_byte)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
