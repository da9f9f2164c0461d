/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/stats/stopping.c: when there are enough repetitions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/clock.h"
#include "bench/stats/stopping.h"

/* Figures with a confidence interval of so many percent each way. */
static summary_t figure(const void *measured, unsigned i)
{
    const double *width = measured;
    return (summary_t){.n = 6,
                       .median = 100,
                       .lo = 100 - width[i],
                       .hi = 100 + width[i],
                       .coverage = 0.95};
}

static const double narrow[] = {1, 2, 3}, wide[] = {1, 2, 8};

static void test_given_number(void **state)
{
    const stopping_t rule = {.repeat = 3};
    (void)state;
    assert_false(stopping_enough(&rule, 2, 3, figure, narrow));
    assert_true(stopping_enough(&rule, 3, 3, figure, wide));
}

static void test_precision(void **state)
{
    const stopping_t rule = {.precision = 0.05, .until_ns = UINT64_MAX};
    (void)state;
    assert_true(stopping_enough(&rule, 6, 3, figure, narrow));
    assert_false(stopping_enough(&rule, 6, 3, figure, wide));
    assert_true(stopping_enough(&rule, STOPPING_MOST, 3, figure, wide));
}

/* Too few give no interval: neither precision nor time ends it. */
static void test_at_least(void **state)
{
    const stopping_t rule = {.precision = 0.05};
    (void)state;
    assert_false(stopping_enough(&rule, 5, 3, figure, narrow));
    assert_true(stopping_enough(&rule, 6, 3, figure, wide));
}

/* Repeats between these. */
static summary_t range(const void *measured, unsigned i)
{
    const double *most = measured;
    return (summary_t){.median = 100, .min = 100, .max = most[i]};
}

/* What is the same in every run: when it has become so, or does not. */
static void test_certain(void **state)
{
    const stopping_t rule = {.certain = true};
    const double alike[] = {100, 100.05}, unlike[] = {100, 101};
    (void)state;
    assert_false(stopping_enough(&rule, 1, 2, range, alike));
    assert_true(stopping_enough(&rule, 2, 2, range, alike));
    assert_false(stopping_enough(&rule, 2, 2, range, unlike));
    assert_true(stopping_enough(&rule, 5, 2, range, unlike));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_number),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_at_least),
        cmocka_unit_test(test_certain),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
