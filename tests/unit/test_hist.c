/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/stats/hist.c: every value in the right bucket, quantiles within 1 %. */
#include "unit.h"
#include "bench/stats/hist.h"

static hist_t hist, other;

static int setup(void **state)
{
    memset(&hist, 0, sizeof hist);
    memset(&other, 0, sizeof other);
    return 0;
}

static void test_buckets_are_contiguous(void **state)
{
    for (unsigned i = 0; i < HIST_BUCKETS; i++) {
        uint64_t lowest = hist_lowest(i), next = hist_lowest(i + 1);
        assert_true(next > lowest);
        assert_int_equal(hist_index(lowest), i);
        assert_int_equal(hist_index(next - 1), i);
        assert_true((next - lowest - 1) * 100 <= lowest);
    }
}

static void test_too_long_values(void **state)
{
    assert_int_equal(hist_index(UINT64_MAX), HIST_BUCKETS - 1);
    hist_add(&hist, UINT64_MAX);
    assert_true(hist.max == UINT64_MAX);
}

static void test_empty(void **state)
{
    assert_int_equal(hist_quantile(&hist, 0.5), 0);
    hist_merge(&hist, &other);
    assert_int_equal(hist.count, 0);
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void test_quantiles(void **state)
{
    enum { N = 10000 };
    static uint64_t values[N];
    static const double quantiles[] = {0.01, 0.25, 0.5, 0.9, 0.99, 0.999};
    srandom(1);
    for (unsigned i = 0; i < N; i++) {
        values[i] = (uint64_t)random() >> (random() % 28);
        hist_add(&hist, values[i]);
    }
    qsort(values, N, sizeof *values, compare);
    for (size_t i = 0; i < sizeof quantiles / sizeof *quantiles; i++) {
        uint64_t exact = values[(unsigned)(quantiles[i] * N + 0.5) - 1];
        uint64_t found = hist_quantile(&hist, quantiles[i]);
        uint64_t gap = found > exact ? found - exact : exact - found;
        assert_true(gap * 100 <= exact);
    }
    assert_true(hist_quantile(&hist, 0) == values[0]);
    assert_true(hist_quantile(&hist, 1) == values[N - 1]);
}

static void test_merge_is_sum(void **state)
{
    static hist_t both;
    memset(&both, 0, sizeof both);
    for (uint64_t v = 1; v < 1000000; v = v * 3 + 1) {
        hist_add(v % 2 ? &hist : &other, v);
        hist_add(&both, v);
    }
    hist_merge(&hist, &other);
    assert_memory_equal(&hist, &both, sizeof hist);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_buckets_are_contiguous, setup),
        cmocka_unit_test_setup(test_too_long_values, setup),
        cmocka_unit_test_setup(test_empty, setup),
        cmocka_unit_test_setup(test_quantiles, setup),
        cmocka_unit_test_setup(test_merge_is_sum, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
