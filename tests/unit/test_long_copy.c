/* SPDX-License-Identifier: BSD-3-Clause */
/* dapl_rail/platform/long_copy.h: each way of copying moves all bytes, at any
 * length and alignment, and touches nothing around them. */
#include "unit.h"
#include "dapl_rail/platform/long_copy.h"

#define LONGEST ((512u << 10) + 4099)
#define MARGIN  128

static uint8_t *from, *to;

static int setup(void **state)
{
    from = aligned_alloc(64, LONGEST / 64 * 64 + 64 + 2 * MARGIN);
    to = aligned_alloc(64, LONGEST / 64 * 64 + 64 + 2 * MARGIN);
    for (size_t i = 0; from && i < LONGEST + MARGIN; i++)
        from[i] = (uint8_t)(i * 131 + (i >> 8));
    return from && to ? 0 : -1;
}

static int teardown(void **state)
{
    free(from);
    free(to);
    return 0;
}

static void check(void (*copy)(void *to, const void *from, size_t n))
{
    static const size_t lengths[] = {
        0,    1,    63,   64,    65,           127,         1024, 1025,
        1279, 1280, 1343, 1344,  1345,         2047,        2048, 2049,
        4095, 4096, 4160, 65536, (512u << 10), LONGEST - 64};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t shift = 0; shift < 64; shift += 9) {
            size_t n = lengths[i];
            uint8_t *at = to + MARGIN + shift;
            memset(to, 0xee, MARGIN + shift + n + MARGIN / 2);
            copy(at, from + shift / 2, n);
            assert_memory_equal(at, from + shift / 2, n);
            assert_int_equal(at[-1], 0xee);
            assert_int_equal(at[n], 0xee);
        }
}

static void test_plain(void **state)
{
    check(plain_copy);
}

/* Copies of other lengths are not near. */
static void near_or_plain(void *target, const void *source, size_t n)
{
    if (copies_near(n))
        near_copy(target, source, n);
    else
        plain_copy(target, source, n);
}

static void test_near(void **state)
{
    check(near_or_plain);
}

static void test_overwrite(void **state)
{
    check(overwrite_copy);
}

static void test_backward(void **state)
{
    check(backward_copy);
}

static void test_stream(void **state)
{
    check(stream_copy);
}

static void test_fetch(void **state)
{
    check(fetch_copy);
}

#ifdef __SSE2__
/* By one way of stores, also where stream_copy takes the other. */
static void by(size_t (*way)(char *, const char *, size_t), size_t unit,
               char *target, const char *source, size_t n)
{
    size_t done = -(uintptr_t)target % STREAM_LINE;
    done = done < n ? done : n;
    memcpy(target, source, done);
    done += way(target + done, source + done, n - done);
    assert_true(n - done < unit);
    memcpy(target + done, source + done, n - done);
}

static void pieces(void *target, const void *source, size_t n)
{
    by(stream_pieces, STREAM_PIECE, target, source, n);
}

static void wide(void *target, const void *source, size_t n)
{
    by(stream_wide, STREAM_LINE, target, source, n);
}

static void test_ways(void **state)
{
    check(pieces);
    if (__builtin_cpu_supports("avx2"))
        check(wide);
}
#else
static void test_ways(void **state)
{
    skip();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),    cmocka_unit_test(test_overwrite),
        cmocka_unit_test(test_backward), cmocka_unit_test(test_stream),
        cmocka_unit_test(test_fetch),    cmocka_unit_test(test_ways),
        cmocka_unit_test(test_near),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
