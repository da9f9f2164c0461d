/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A machine that stands still for longer than connecting may take, and then
 * goes on: the peer had no time to answer, so that is not over. By a clock that
 * leaps while the rank that came first sleeps.
 */
#include "leap.h"

#define CONNECT_MS 10000
#define LEAP_NS    (2ull * CONNECT_MS * MS)

static _Atomic bool is_first; /* this rank, until its clock has leapt */

static void sleep_until(const struct drail_platform *p, uint64_t ns)
{
    leap_sleep_until(p, ns);
    if (atomic_exchange(&is_first, false))
        leap(LEAP_NS);
}

static void connect_after(struct rank *r, unsigned first)
{
    *leapt = false;
    barrier_outside(r); /* the second rank answers after the leap */
    is_first = r->rank == first;
    check_within(20, is_first || *leapt);
    expect(r, 0, drail_connect(r->t, r->peer));
    barrier(r);
    check(*leapt);
}

static void lower_first(struct rank *r)
{
    connect_after(r, 0);
}

static void higher_first(struct rank *r)
{
    connect_after(r, 1);
}

/* A rank that stands still only for a moment now and then learns at last that
 * nobody comes. */
static void nobody_comes(struct rank *r)
{
    is_first = r->rank == 0;
    if (is_first)
        expect(r, DRAIL_ETIMEOUT, drail_connect(r->t, 1));
    barrier_outside(r);
}

static void patient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = CONNECT_MS;
}

static void impatient(drail_config_t *cfg)
{
    cfg->connect_timeout_ms = 300;
}

static const struct test tests[] = {
    {"the lower rank came first", 2, lower_first, patient, APART},
    {"the higher rank came first", 2, higher_first, patient, APART},
    {"nobody comes", 2, nobody_comes, impatient, APART},
};

int main(int argc, char **argv)
{
    return leap_run_tests(tests, sizeof tests / sizeof tests[0], argc, argv,
                          sleep_until);
}
