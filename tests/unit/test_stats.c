/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/stats/stats.c against values computed by hand and by exact counting. */
#include <math.h>
#include "unit.h"
#include "bench/stats/stats.h"

static void near(double a, double b)
{
    assert_true(fabs(a - b) <= 1e-9 * fmax(1, fabs(b)));
}

static void test_empty(void **state)
{
    summary_t s = stats_summary(NULL, 0);
    assert_int_equal(s.n, 0);
    assert_true(isnan(s.median) && isnan(s.lo) && isnan(s.hi));
    assert_true(isinf(stats_precision(&s)));
}

static void test_median_and_mean(void **state)
{
    double odd[] = {5, 1, 3}, even[] = {4, 1, 3, 2};
    near(stats_summary(odd, 3).median, 3);
    summary_t s = stats_summary(even, 4);
    near(s.median, 2.5);
    near(s.mean, 2.5);
    near(s.min, 1);
    near(s.max, 4);
}

/* The textbook table of ranks for a 95 % interval of the median (ranks
 * counted from 1): n = 6: 1 and 6, 10: 2 and 9, 20: 6 and 15, 50: 18 and 33,
 * 100: 40 and 61. */
static void test_interval_ranks(void **state)
{
    static const struct {
        unsigned n, rank;
    } table[] = {{6, 1}, {10, 2}, {20, 6}, {50, 18}, {100, 40}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        unsigned lo;
        double coverage = stats_median_interval(table[i].n, 0.95, &lo);
        assert_int_equal(lo + 1, table[i].rank);
        assert_true(coverage >= 0.95 && coverage < 0.99);
    }
}

/* The stated probability by counting all 2^n ways of falling on one side. */
static void test_interval_coverage(void **state)
{
    for (unsigned n = 1; n <= 16; n++) {
        unsigned lo, inside = 0;
        double coverage = stats_median_interval(n, 0.95, &lo);
        for (unsigned ways = 0; ways < 1u << n; ways++) {
            unsigned below = (unsigned)__builtin_popcount(ways);
            inside += below > lo && below < n - lo;
        }
        near(coverage, (double)inside / (double)(1u << n));
        assert_int_equal(coverage >= 0.95, n >= 6);
    }
}

static void test_too_few_for_precision(void **state)
{
    double same[] = {7, 7, 7, 7, 7, 7};
    summary_t five = stats_summary(same, 5), six = stats_summary(same, 6);
    assert_true(isinf(stats_precision(&five)));
    near(stats_precision(&six), 0);
}

static void test_precision(void **state)
{
    double values[] = {90, 100, 100, 100, 100, 110};
    summary_t s = stats_summary(values, 6);
    near(s.lo, 90);
    near(s.hi, 110);
    near(stats_precision(&s), 0.1);
}

static void test_outliers_stay(void **state)
{
    double values[] = {10, 11, 12, 13, 14, 15, 16, 1000};
    summary_t s = stats_summary(values, 8);
    assert_int_equal(s.outliers, 1);
    near(s.max, 1000);
    near(s.mean, 1091.0 / 8);
}

/* Many values: no underflow of 2^-n, and the ranks near the normal limit
 * n/2 - 0.98 sqrt(n). */
static void test_many(void **state)
{
    unsigned lo;
    double coverage = stats_median_interval(STATS_MAX, 0.95, &lo);
    assert_true(coverage >= 0.95 && coverage < 0.96);
    assert_true(fabs(lo - (500 - 0.98 * sqrt(STATS_MAX))) < 2);
}

/* A figure that should be the same, but differs, has its range. */
static void test_certain(void **state)
{
    double alike[] = {100, 100.05, 100}, unlike[] = {100, 101, 100, 102, 100};
    summary_t s = stats_certain(stats_summary(alike, 3));
    assert_true(isnan(s.lo) && isnan(s.hi) && isnan(s.coverage));
    near(s.median, 100);
    s = stats_certain(stats_summary(unlike, 5));
    near(s.lo, 100);
    near(s.hi, 102);
    assert_true(isnan(s.coverage));
    s = stats_range(stats_summary(alike, 3));
    near(s.lo, 100);
    near(s.hi, 100.05);
    assert_true(isnan(s.coverage));
    s = stats_certain(stats_summary(NULL, 0));
    assert_true(isnan(s.median) && isnan(s.lo));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_median_and_mean),
        cmocka_unit_test(test_interval_ranks),
        cmocka_unit_test(test_interval_coverage),
        cmocka_unit_test(test_too_few_for_precision),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_outliers_stay),
        cmocka_unit_test(test_certain),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
