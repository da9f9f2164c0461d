/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/pair/result.c: what part of its limit a row reaches. */
#include <math.h>
#include "unit.h"
#include "bench/pair/result.h"

#define REPEATS 7

/* 1,000,000 bytes there and back in 200 us: 100 us and 5000 MB/s. */
static double part(const bench_test_t *test, limit_kind_t kind, double value)
{
    hist_t samples = {0};
    repeat_t repeats[REPEATS];
    const setup_t setup = {.engine = DRAIL_ENGINE_SINGLE};
    plan_t plan = {.count = 1};
    const options_t opts = {
        .nrails = 1, .batch = 1, .repeat = REPEATS, .ranks = 2};
    cell_t cell = {.bytes = 1000000, .limit = limit_unknown()};
    const result_t result = {.test = test,
                             .opts = &opts,
                             .plan = &plan,
                             .cells = &cell,
                             .ncells = 1};
    plan.setups[0] = setup;
    for (unsigned i = 0; i < REPEATS; i++)
        repeats[i] =
            (repeat_t){.iterations = 1, .ns = 200000, .bytes = 1000000};
    for (unsigned l = 0; l < test->nloops; l++)
        cell.series[l] = (series_t){.iterations = 1,
                                    .repeats = repeats,
                                    .count = REPEATS,
                                    .samples = &samples};
    cell.limit.kind = kind;
    cell.limit.figure.median = value;
    return result_figures(&result, &cell).limit_pct;
}

static const bench_test_t bandwidth = {
    .name = "bw", .loops = {&loop_bw}, .nloops = 1};
static const bench_test_t latency = {
    .name = "lat", .loops = {&loop_bw, &loop_pingpong}, .nloops = 2};

static void rate_over_limit(void **state)
{
    assert_true(fabs(part(&bandwidth, LIMIT_COPY, 10000) - 50) < 1e-9);
    assert_true(fabs(part(&bandwidth, LIMIT_LINK, 4000) - 125) < 1e-9);
}

/* Of the ping-pong, which is the last loop: half of a round. */
static void limit_over_time(void **state)
{
    assert_true(fabs(part(&latency, LIMIT_LINE, 25) - 25) < 1e-9);
}

static void none_without_limit(void **state)
{
    assert_true(isnan(part(&bandwidth, LIMIT_NONE, NAN)));
    assert_true(isnan(part(&bandwidth, LIMIT_COPY, NAN)));
    assert_true(isnan(limit_unknown().figure.lo));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_over_limit),
        cmocka_unit_test(limit_over_time),
        cmocka_unit_test(none_without_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
