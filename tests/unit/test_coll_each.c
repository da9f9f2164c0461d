/* SPDX-License-Identifier: BSD-3-Clause */
/* Single calls after a common start: who waits for it, and how. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/clock.h"
#include "bench/coll/each.h"

#define AHEAD_NS UINT64_C(2000000000)

static unsigned asked, stops, yields;

bool drail_job_interrupted(const drail_job_t *job)
{
    (void)job;
    return stops && ++asked == stops;
}

static void yield(const struct drail_platform *p)
{
    (void)p;
    yields++;
}

const struct drail_platform *drail_job_platform(const drail_job_t *job)
{
    static const struct drail_platform platform = {.yield = yield};
    (void)job;
    return &platform;
}

static int wait(bool shares_cores, uint64_t ahead, unsigned stopped_by)
{
    const coll_run_t run = {.shares_cores = shares_cores};
    asked = yields = 0;
    stops = stopped_by;
    return coll_wait_until(&run, clock_ns() + ahead);
}

/* Whether there is a core to spin on or not. */
static void test_interrupted(void **state)
{
    (void)state;
    for (int shares = 0; shares < 2; shares++) {
        uint64_t begin = clock_ns();
        assert_int_equal(wait(shares, AHEAD_NS, 3), DRAIL_EINTR);
        assert_true(clock_ns() < begin + AHEAD_NS);
    }
}

static void test_yields_where_cores_are_shared(void **state)
{
    (void)state;
    assert_int_equal(wait(false, 1000000, 0), 0);
    assert_int_equal(yields, 0);
    assert_int_equal(wait(true, 1000000, 0), 0);
    assert_true(yields > 0);
}

/* One core of this process: a launcher has given the other rank another one, if
 * there is one. */
static void test_cores_of_others(void **state)
{
    options_t opts = {.ranks = 2, .local = 0, .locals = 2};
    (void)state;
    assert_int_equal(coll_shares_cores(&opts, 1),
                     sysconf(_SC_NPROCESSORS_ONLN) < 2);
    opts.locals = 0; /* forked ones have the same */
    assert_true(coll_shares_cores(&opts, 1));
    assert_false(coll_shares_cores(&opts, 2));
}

/* Each rank has as many threads as rails. */
static void test_threads_need_cores(void **state)
{
    options_t opts = {.ranks = 2,
                      .nrails = 2,
                      .nengines = 1,
                      .engines = {DRAIL_ENGINE_THREADED}};
    (void)state;
    assert_true(coll_shares_cores(&opts, 3));
    assert_false(coll_shares_cores(&opts, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_yields_where_cores_are_shared),
        cmocka_unit_test(test_cores_of_others),
        cmocka_unit_test(test_threads_need_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
