/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/diff/rank_test.c against exact tables and against counting all orders.
 */
#include <math.h>
#include "unit.h"
#include "bench/diff/rank_test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void near(double a, double b, double tolerance)
{
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.12g instead of %.12g", a, b);
}

static void test_separated(void **state)
{
    double x[] = {5, 3, 1, 4, 2}, y[] = {10, 9, 8, 7, 6};
    rank_test_t t = rank_test(x, 5, y, 5);
    near(t.u, 25, 0);
    near(t.p, 2.0 / 252, 1e-15);
    near(t.delta, 1, 0);
    t = rank_test(y, 5, x, 5);
    near(t.u, 0, 0);
    near(t.p, 2.0 / 252, 1e-15);
    near(t.delta, -1, 0);
}

/* Two-sided 5 % critical values of the textbooks' table: the largest U that
 * is significant; the next one isn't. */
static void test_critical_values(void **state)
{
    static const struct {
        unsigned n, u;
    } table[] = {{4, 0},   {5, 2},   {6, 5},   {8, 13},
                 {10, 23}, {15, 64}, {20, 127}};
    for (size_t i = 0; i < COUNT(table); i++)
        for (unsigned more = 0; more < 2; more++) {
            unsigned n = table[i].n, left = table[i].u + more;
            double x[20], y[20];
            /* y between the x so that U is `left`: y[k] above `above` x */
            for (unsigned k = 0; k < n; k++) {
                unsigned above = left < n ? left : n;
                x[k] = k + 1;
                y[k] = above + 0.5 + 0.01 * k / n;
                left -= above;
            }
            rank_test_t t = rank_test(x, n, y, n);
            near(t.u, table[i].u + more, 0);
            assert_true(more ? t.p > 0.05 : t.p <= 0.05);
        }
}

/* p by going through every way to choose which of the ranks are y's. */
static void test_by_counting(void **state)
{
    enum { NX = 5, NY = 4, N = NX + NY };
    for (unsigned ours = 0; ours < 1u << N; ours++) {
        if (__builtin_popcount(ours) != NY)
            continue;
        double x[NX], y[NY];
        unsigned nx = 0, ny = 0, all = 0, extreme = 0;
        for (unsigned k = 0; k < N; k++)
            if (ours >> k & 1)
                y[ny++] = k;
            else
                x[nx++] = k;
        rank_test_t t = rank_test(x, NX, y, NY);
        for (unsigned ways = 0; ways < 1u << N; ways++) {
            if (__builtin_popcount(ways) != NY)
                continue;
            unsigned u = 0, below = 0;
            for (unsigned k = 0; k < N; k++)
                if (ways >> k & 1)
                    u += below;
                else
                    below++;
            all++;
            extreme += fabs(u - NX * NY / 2.0) >= fabs(t.u - NX * NY / 2.0);
        }
        near(t.p, (double)extreme / all, 1e-12);
    }
}

static void test_ties(void **state)
{
    double same[] = {3, 3, 3}, other[] = {3, 3, 3, 3};
    rank_test_t t = rank_test(same, 3, other, 4);
    near(t.p, 1, 0);
    near(t.delta, 0, 0);

    /* by hand: U = 12.5 of 16, one pair of equal values; variance
     * 16/12 (9 - 6/56), distance 4.5 - 0.5 */
    double x[] = {1, 2, 3, 6}, y[] = {3, 4, 5, 7};
    t = rank_test(x, 4, y, 4);
    near(t.u, 12.5, 0);
    near(t.delta, 2 * 12.5 / 16 - 1, 1e-15);
    near(t.p, erfc(4 / sqrt(2 * 16.0 / 12 * (9 - 6.0 / 56))), 1e-12);

    /* so few can't show more: 2 of the 20 orders of three and three */
    double low[] = {1, 1, 1}, high[] = {2, 2, 2};
    near(rank_test(low, 3, high, 3).p, 0.1, 1e-12);
}

/* Shifted by 9 / 2 places: U is the sum of min(n, k + 5) over k. */
static rank_test_t shifted(unsigned n)
{
    double x[21], y[21];
    for (unsigned k = 0; k < n; k++) {
        x[k] = 2 * k;
        y[k] = 2 * k + 9;
    }
    return rank_test(x, n, y, n);
}

/* The approximation where the exact test ends, and how near it is there. */
static void test_large(void **state)
{
    rank_test_t t = shifted(21);
    near(t.u, 305, 0);
    near(t.p, erfc((305 - 220.5 - 0.5) / sqrt(2 * 441 * 43 / 12.0)), 1e-12);
    t = shifted(20);
    near(t.u, 280, 0);
    near(t.p / erfc((280 - 200 - 0.5) / sqrt(2 * 400 * 41 / 12.0)), 1, 0.1);
}

/* The example of Benjamini and Hochberg (1995, section 3.2): 15 tests, of which
 * four are discoveries at 5 %; whatever the order. */
static void test_false_discovery(void **state)
{
    double p[] = {0.0459, 0.0001, 0.0004, 0.0019, 0.0095,
                  0.0201, 0.0278, 0.0298, 0.0344, 0.3240,
                  0.4262, 0.5719, 0.6528, 0.7590, 1.0};
    assert_int_equal(false_discovery(p, 15), 0);
    near(p[1], 0.0001 * 15, 1e-12);
    near(p[4], 0.0095 * 15 / 4, 1e-12);
    unsigned found = 0;
    for (unsigned i = 0; i < 15; i++)
        found += p[i] <= 0.05;
    assert_int_equal(found, 4);
    near(p[5], 0.0201 * 15 / 5, 1e-12);
    near(p[6], 0.0298 * 15 / 7, 1e-12); /* not above that of a larger p */
    near(p[14], 1, 0);
    double none[] = {0.4, 0.4};
    assert_int_equal(false_discovery(none, 0), 0);
    assert_int_equal(false_discovery(none, 2), 0);
    near(none[0], 0.4, 1e-12);
}

static void test_empty(void **state)
{
    double x[] = {1};
    rank_test_t t = rank_test(x, 1, NULL, 0);
    near(t.p, 1, 0);
    near(t.delta, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_separated),
        cmocka_unit_test(test_critical_values),
        cmocka_unit_test(test_by_counting),
        cmocka_unit_test(test_ties),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_false_discovery),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
