/* SPDX-License-Identifier: BSD-3-Clause */
/* Single calls after a common start: which ranks wait for it, and how. */
#include "unit.h"
#include "bench/clock.h"
#include "bench/coll/each.h"

#define AHEAD_NS UINT64_C(2000000000)

static unsigned asked, stops, yields;

bool drail_job_interrupted(const drail_job_t *job)
{
    return stops && ++asked == stops;
}

static void yield(const struct drail_platform *p)
{
    yields++;
}

const struct drail_platform *drail_job_platform(const drail_job_t *job)
{
    static const struct drail_platform platform = {.yield = yield};
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
    for (int shares = 0; shares < 2; shares++) {
        uint64_t begin = clock_ns();
        assert_int_equal(wait(shares, AHEAD_NS, 3), DRAIL_EINTR);
        assert_true(clock_ns() < begin + AHEAD_NS);
    }
}

static void test_yields_where_cores_are_shared(void **state)
{
    assert_int_equal(wait(false, 1000000, 0), 0);
    assert_int_equal(yields, 0);
    assert_int_equal(wait(true, 1000000, 0), 0);
    assert_true(yields > 0);
}

static place_t place(unsigned host, int from, int to)
{
    place_t p = {.host = host};
    for (int core = from; core <= to; core++)
        CPU_SET((size_t)core, &p.cores);
    return p;
}

static void assert_crowd(crowd_t found, unsigned ranks, unsigned cores,
                         bool shared)
{
    assert_int_equal(found.ranks, ranks);
    assert_int_equal(found.cores, cores);
    assert_int_equal(found.shared, shared);
    assert_int_equal(coll_shares_cores(&found), shared);
}

/* A launcher may have given each rank a core of its own, or all the same. */
static void test_cores_of_launched(void **state)
{
    place_t all[] = {place(0, 3, 3), place(0, 5, 5), place(1, 3, 4)};
    assert_crowd(crowd_of_places(all, 2, 1), 2, 2, false);
    assert_crowd(crowd_of_places(all, 3, 1), 2, 2, false);
    assert_crowd(crowd_of_places(all, 2, 2), 2, 2, true);
    all[1] = all[0];
    assert_crowd(crowd_of_places(all, 2, 1), 2, 1, true);
    all[1] = place(0, 2, 3);
    assert_crowd(crowd_of_places(all, 2, 1), 2, 2, false);
    all[1] = place(1, 3, 3); /* another host's */
    assert_crowd(crowd_of_places(all, 2, 1), 1, 1, false);
    all[1].host = all[2].host = 2; /* crowded is one that is not rank 0's */
    all[2] = place(2, 3, 3);
    assert_crowd(crowd_of_places(all, 3, 1), 2, 1, true);
}

/* Each rank has as many threads as rails. */
static void test_threads_need_cores(void **state)
{
    options_t opts = {.ranks = 2,
                      .nrails = 2,
                      .nengines = 1,
                      .engines = {DRAIL_ENGINE_THREADED}};
    assert_crowd(crowd_of_forked(&opts, 3), 2, 3, true);
    assert_crowd(crowd_of_forked(&opts, 4), 2, 4, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interrupted),
        cmocka_unit_test(test_yields_where_cores_are_shared),
        cmocka_unit_test(test_cores_of_launched),
        cmocka_unit_test(test_threads_need_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
