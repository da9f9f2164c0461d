/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * bench/stats/sampling.c: when there are enough repetitions, and that its
 * intervals hold the median as often as they say. Draws are the same in every
 * run; no time is measured.
 */
#include <math.h>

#include "unit.h"
#include "bench/clock.h"
#include "bench/diff/rank_test.h"
#include "bench/stats/sampling.h"

#define LEAST 8 /* repeats before the first look */

/* ------------------------------------------------------------ the rule --- */

/* Figures with a confidence interval of so many percent each way. */
static summary_t figure(const void *of, unsigned i)
{
    const double *width = of;
    return (summary_t){.n = LEAST,
                       .median = 100,
                       .lo = 100 - width[i],
                       .hi = 100 + width[i],
                       .coverage = 0.95};
}

static double narrow[] = {1, 2, 3}, wide[] = {1, 2, 8};

static bool enough(const sampling_t *rule, unsigned repeats, double *widths)
{
    const sampled_t sampled = {.figures = 3, .figure = figure, .of = widths};
    return sampling_enough(rule, repeats, &sampled);
}

static void test_given_number(void **state)
{
    const sampling_t rule = {.repeat = 3};
    assert_false(enough(&rule, 2, narrow));
    assert_true(enough(&rule, 3, wide));
}

static void test_precision(void **state)
{
    const sampling_t rule = {.precision = 0.05, .until_ns = UINT64_MAX};
    assert_true(enough(&rule, LEAST, narrow));
    assert_false(enough(&rule, LEAST, wide));
    assert_false(enough(&rule, LEAST + 1, narrow)); /* no look */
    assert_true(enough(&rule, sampling_look(LEAST), narrow));
    assert_true(enough(&rule, SAMPLING_MOST, wide));
}

/* Too few give no interval: neither precision nor time ends it. */
static void test_at_least(void **state)
{
    const sampling_t rule = {.precision = 0.05};
    assert_int_equal(sampling_look(1), LEAST);
    assert_false(enough(&rule, LEAST - 1, narrow));
    assert_true(enough(&rule, LEAST, wide));
    assert_false(enough(&rule, LEAST + 1, wide));
}

/* If the next look would come after the end, sampling ends now. */
static void test_next_look_too_late(void **state)
{
    const uint64_t hour = UINT64_C(3600000000000), now = clock_ns();
    sampling_t rule = {.precision = 0.01, .from_ns = now - hour};
    rule.until_ns = now + hour / 4; /* for 2 of the 4 up to the next look */
    assert_true(enough(&rule, LEAST, wide));
    rule.until_ns = now + hour;
    assert_false(enough(&rule, LEAST, wide));
}

/* Repeats between these. */
static summary_t range(const void *of, unsigned i)
{
    const double *most = of;
    return (summary_t){.median = 100, .min = 100, .max = most[i]};
}

/* A figure that is the same in every run: when it becomes so, or does not. */
static void test_certain(void **state)
{
    const sampling_t rule = {.certain = true};
    double alike[] = {100, 100.05}, unlike[] = {100, 101};
    const sampled_t same = {.figures = 2, .figure = range, .of = alike};
    const sampled_t other = {.figures = 2, .figure = range, .of = unlike};
    assert_false(sampling_enough(&rule, 1, &same));
    assert_true(sampling_enough(&rule, 2, &same));
    assert_false(sampling_enough(&rule, 2, &other));
    assert_true(sampling_enough(&rule, 5, &other));
}

/* Of a run: the order of repeats, and how often all agreed. */
typedef struct order {
    unsigned count, agreed, stop;
    unsigned who[16];
} order_t;

static int note(void *of, unsigned i)
{
    order_t *order = of;
    order->who[order->count++] = i;
    return order->count == order->stop ? -7 : 0;
}

static int agree(void *of, bool *enough)
{
    order_t *order = of;
    *enough = ++order->agreed == 2;
    return 0;
}

/* In turn, and another one first in each round. */
static void test_turns(void **state)
{
    const unsigned expected[] = {0, 1, 2, 1, 2, 0, 2, 0, 1};
    const sampling_t rule = {.repeat = 3};
    order_t order = {0};
    const sampled_t sampled = {.count = 3, .repeat = note, .of = &order};
    assert_int_equal(sampling_run(&rule, &sampled), 0);
    assert_int_equal(order.count, 9);
    assert_memory_equal(order.who, expected, sizeof expected);
}

/* A rank that doesn't decide goes on until told; a failure ends it at once. */
static void test_told(void **state)
{
    const sampling_t rule = {.repeat = 1};
    order_t order = {0}, fails = {.stop = 4};
    const sampled_t follower = {.count = 3,
                                .repeat = note,
                                .agree = agree,
                                .follows = true,
                                .of = &order};
    const sampled_t failing = {
        .count = 3, .repeat = note, .agree = agree, .of = &fails};
    assert_int_equal(sampling_run(&rule, &follower), 0);
    assert_int_equal(order.count, 6);
    assert_int_equal(sampling_run(&rule, &failing), -7);
    assert_int_equal(fails.count, 4);
    assert_int_equal(fails.agreed, 1);
}

static void test_iterations(void **state)
{
    assert_int_equal(sampling_iterations(10, 1000000), 100);
    assert_int_equal(sampling_iterations(1, UINT64_C(10000000000)), 1);
    assert_int_equal(sampling_iterations(10, 0), 100000);
}

/* ------------------------------------------------------------ coverage --- */

static uint64_t random_state;

/* 0 … 1, without either (G. Marsaglia's xorshift). */
static double uniform(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return ((double)(random_state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
    return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

/* As times are: skewed, or of two modes, such as a machine's two phases. Each
 * has a median that is known. */
static double lognormal(void)
{
    return exp(0.03 * normal());
}

static double exponential(void)
{
    return 1 - 0.05 * log(uniform()) - 0.05 * log(2);
}

static double heavy_tail(void)
{
    return 1 + 0.01 * (1 / uniform() - 2);
}

/* The lower mode has just a bit more than half: the median is at its top. */
static double two_modes(void)
{
    return uniform() < 0.52 ? 1 - 0.01 * (1 - uniform() / 0.961538461538461)
                            : 1.05 + 0.01 * uniform();
}

static double two_modes_apart(void)
{
    double u = uniform();
    return u < 0.6 ? 1 + 0.006 * (u - 0.5) : 1.1 + 0.005 * normal();
}

static double (*const draws[])(void) = {lognormal, exponential, heavy_tail,
                                        two_modes_apart, two_modes};
#define DRAWS  (sizeof draws / sizeof *draws)
#define MEDIAN 1.0

static bool holds(const summary_t *s)
{
    return s->lo <= MEDIAN && MEDIAN <= s->hi;
}

static summary_t draw(double (*from)(void), const sampling_t *rule, unsigned n)
{
    double values[SAMPLING_MOST];
    for (unsigned i = 0; i < n; i++)
        values[i] = from();
    return sampling_summary(rule, values, n);
}

/* Of a given number of repeats: for each number, and closer for all together.
 */
static void test_coverage_of_given_numbers(void **state)
{
    const unsigned trials = 100;
    random_state = 13;
    for (unsigned d = 0; d < DRAWS; d++) {
        unsigned all = 0, held = 0;
        for (unsigned n = 6; n <= 200; n++) {
            const sampling_t rule = {.repeat = n};
            unsigned here = 0;
            for (unsigned t = 0; t < trials; t++) {
                summary_t s = draw(draws[d], &rule, n);
                assert_true(s.coverage >= 0.95);
                here += holds(&s);
            }
            assert_true(here >= 0.86 * trials); /* 4 standard deviations */
            held += here;
            all += trials;
        }
        print_message("draw %u: %.4f\n", d, (double)held / all);
        assert_true(held >= 0.95 * all);
    }
}

/* A sample that grows until the rule has enough of it. */
typedef struct growing {
    const sampling_t *rule;
    double values[SAMPLING_MOST];
    unsigned n;
} growing_t;

static summary_t summary_of(const void *of, unsigned i)
{
    const growing_t *g = of;
    double sorted[SAMPLING_MOST];
    for (unsigned k = 0; k < g->n; k++)
        sorted[k] = g->values[k];
    return sampling_summary(g->rule, sorted, g->n);
}

static void sample(growing_t *g, double (*from)(void))
{
    const sampled_t sampled = {.figures = 1, .figure = summary_of, .of = g};
    g->n = 0;
    do
        g->values[g->n++] = from();
    while (!sampling_enough(g->rule, g->n, &sampled));
}

/* With stopping when it is precise, whatever precision is asked for. */
static void test_coverage_when_stopped(void **state)
{
    static const double precisions[] = {0.01, 0.025, 0.05};
    const unsigned trials = 2000;
    random_state = 14;
    for (unsigned d = 0; d < DRAWS; d++)
        for (unsigned p = 0; p < 3; p++) {
            const sampling_t rule = {.precision = precisions[p],
                                     .until_ns = UINT64_MAX};
            growing_t g = {.rule = &rule};
            unsigned held = 0;
            double repeats = 0;
            for (unsigned t = 0; t < trials; t++) {
                sample(&g, draws[d]);
                summary_t s = summary_of(&g, 0);
                assert_true(s.coverage >= 0.95);
                held += holds(&s);
                repeats += g.n;
            }
            print_message("draw %u, precision %.3f: %.4f, %.0f repeats\n", d,
                          precisions[p], (double)held / trials,
                          repeats / trials);
            assert_true(held >= 0.95 * trials);
        }
}

/*
 * However it is stopped: the probability that the median is within the
 * intervals of all looks, exactly. below[b] is that of b values below it after
 * n, and no look yet that has missed it.
 */
static void test_coverage_of_all_looks(void **state)
{
    double below[SAMPLING_MOST + 2] = {1}, missed = 0;
    unsigned n = 0, lo;
    while (n < SAMPLING_MOST) {
        for (unsigned look = sampling_look(n); n < look; n++) {
            for (unsigned b = n + 1; b > 0; b--)
                below[b] = (below[b] + below[b - 1]) / 2;
            below[0] /= 2;
        }
        stats_median_interval(n, SAMPLING_LOOK, &lo);
        for (unsigned b = 0; b <= n; b++)
            if (b <= lo || b >= n - lo) {
                missed += below[b];
                below[b] = 0;
            }
    }
    print_message("all looks: %.5f\n", 1 - missed);
    assert_true(1 - missed >= SAMPLING_COVERAGE);
    assert_true(SAMPLING_COVERAGE >= 0.95);
}

/* Two samples of the same are called different in at most 5 % of cases, and in
 * 0.5 % at that level, also when each was stopped by itself. */
static void test_same_against_same(void **state)
{
    const sampling_t rule = {.precision = 0.025, .until_ns = UINT64_MAX};
    const unsigned trials = 2000;
    random_state = 15;
    for (unsigned d = 0; d < DRAWS; d++) {
        growing_t x = {.rule = &rule}, y = {.rule = &rule};
        unsigned different = 0, surely = 0;
        for (unsigned t = 0; t < trials; t++) {
            sample(&x, draws[d]);
            sample(&y, draws[d]);
            double p = rank_test(x.values, x.n, y.values, y.n).p;
            different += sampling_p(&rule, p) < 0.05;
            surely += sampling_p(&rule, p) < 0.005;
        }
        print_message("draw %u: %u and %u of %u called different\n", d,
                      different, surely, trials);
        assert_true(different <= 0.05 * trials);
        assert_true(surely <= 0.005 * trials);
    }
}

/* ... of a whole table: any in at most 5 % of tables. */
static void test_tables_against_themselves(void **state)
{
    enum { POINTS = 20 };
    const sampling_t rule = {.precision = 0.025, .until_ns = UINT64_MAX};
    const unsigned tables = 200;
    unsigned different = 0;
    random_state = 16;
    for (unsigned t = 0; t < tables; t++) {
        growing_t x = {.rule = &rule}, y = {.rule = &rule};
        double q[POINTS], least = 1;
        for (unsigned i = 0; i < POINTS; i++) {
            sample(&x, draws[i % DRAWS]);
            sample(&y, draws[i % DRAWS]);
            q[i] = sampling_p(&rule, rank_test(x.values, x.n, y.values, y.n).p);
        }
        assert_int_equal(false_discovery(q, POINTS), 0);
        for (unsigned i = 0; i < POINTS; i++)
            least = fmin(least, q[i]);
        different += least < 0.05;
    }
    print_message("%u of %u tables\n", different, tables);
    assert_true(different <= 0.05 * tables);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_given_number),
        cmocka_unit_test(test_precision),
        cmocka_unit_test(test_at_least),
        cmocka_unit_test(test_next_look_too_late),
        cmocka_unit_test(test_certain),
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_told),
        cmocka_unit_test(test_iterations),
        cmocka_unit_test(test_coverage_of_given_numbers),
        cmocka_unit_test(test_coverage_when_stopped),
        cmocka_unit_test(test_coverage_of_all_looks),
        cmocka_unit_test(test_same_against_same),
        cmocka_unit_test(test_tables_against_themselves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
