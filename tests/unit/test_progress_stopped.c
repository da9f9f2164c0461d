/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waits in which the process stands still, for longer than they may take: that
 * does not count, whatever else goes on meanwhile. The clock is the test's; so
 * is the rail, which brings events, but none that is waited for.
 */
#include "unit.h"
#include "dapl_rail/base/handle.h"
#include "dapl_rail/base/limits.h"
#include "dapl_rail/engine/progress.h"
#include "dapl_rail/job/job.h"
#include "dapl_rail/links/connect/attempt.h"
#include "dapl_rail/links/connect/connect.h"
#include "dapl_rail/links/events.h"
#include "dapl_rail/links/failover/heartbeat.h"
#include "dapl_rail/links/failover/loss.h"
#include "dapl_rail/links/failover/outstanding.h"
#include "dapl_rail/links/link.h"
#include "dapl_rail/links/peer.h"
#include "dapl_rail/rails/rail.h"

#define WAIT_MS 400
#define STEP_NS (MS / 20) /* until the next event */
#define SLOW_NS (50 * MS)
#define LEAP_NS (60000 * MS)

static uint64_t time_ns = MS, step_ns = STEP_NS;
static unsigned sleeps, leap_at, signal_at; /* 0: never */
static int events;                          /* that each sleep brings */

static uint64_t now(const struct drail_platform *p)
{
    return time_ns;
}

static void pass(void)
{
    time_ns += step_ns;
    if (++sleeps == leap_at)
        time_ns += LEAP_NS;
}

static void sleep_until(const struct drail_platform *p, uint64_t ns)
{
    pass();
}

static const struct drail_platform platform = {.now_ns = now,
                                               .sleep_until = sleep_until};
static struct peer peer;
static drail_job_t job = {.size = 1, .platform = &platform};
static struct rail rail;
static drail_t t = {.job = &job, .rails = &rail, .nrails = 1, .met = &peer};
static struct link closed = {.peer = &peer};

int rail_sleep(struct rail *r, unsigned us)
{
    pass();
    return events;
}

void rail_catch_up(struct rail *r)
{
}

int rail_poll(struct rail *r)
{
    return 0;
}

int rail_poll_one(struct rail *r)
{
    return 0;
}

void rail_check(struct rail *r)
{
}

void attempts_serve(drail_t *tt)
{
}

void heartbeat_check(drail_t *tt)
{
}

void loss_run(drail_t *tt)
{
}

bool drail_job_interrupted(const drail_job_t *j)
{
    return signal_at && sleeps >= signal_at;
}

uint64_t peer_completed(const struct peer *of, uint32_t rails)
{
    return 0;
}

static int never(drail_t *tt, void *arg, uint32_t *rails)
{
    *rails = 1;
    return 0;
}

static int any_rail(void)
{
    return progress_wait(&t, never, NULL, WAIT_MS);
}

static int its_rail(void)
{
    return rail_wait(&rail, NULL, never, NULL, WAIT_MS);
}

static void on_any_rail(void)
{
    assert_int_equal(any_rail(), DRAIL_ETIMEOUT);
}

static void on_its_rail(void)
{
    assert_int_equal(its_rail(), DRAIL_ETIMEOUT);
}

/* Two waits that share their time. */
static void in_two_parts(void)
{
    struct patience p = {.t = &t, .timeout_ms = WAIT_MS};
    assert_int_equal(patience_check(&p), 0);
    for (unsigned i = 0; i < WAIT_MS * MS / STEP_NS / 2; i++) {
        pass();
        assert_int_equal(patience_check(&p), 0);
    }
    assert_int_equal(progress_wait_on(&p, never, NULL), DRAIL_ETIMEOUT);
}

static void for_the_end(void)
{
    rail.closed = &closed;
    assert_false(progress_until(&t, NULL, NULL, 0, WAIT_MS));
    rail.closed = NULL;
}

/* Events that come now and then neither lengthen a wait nor hide a signal. */
static void slow_events_hide_nothing(int (*wait)(void))
{
    step_ns = SLOW_NS;
    events = 1;
    sleeps = leap_at = 0;
    assert_int_equal(wait(), DRAIL_ETIMEOUT);
    assert_in_range(sleeps, 1, WAIT_MS * MS / SLOW_NS + 3);
    sleeps = 0;
    signal_at = 3;
    assert_int_equal(wait(), DRAIL_EINTR);
    assert_in_range(sleeps, signal_at, signal_at + 3);
    signal_at = 0;
    step_ns = STEP_NS;
}

static unsigned sleeps_in(void (*wait)(void), unsigned leap)
{
    sleeps = 0;
    leap_at = leap;
    wait();
    return sleeps;
}

/* Also if the clock is looked at only seldom, because events come all the
 * time. */
static void leaps_do_not_count(void (*wait)(void))
{
    const unsigned turn = TURN_MS * MS / STEP_NS; /* the weight of a leap */
    const unsigned all = WAIT_MS * MS / STEP_NS, seldom = 1024;
    for (events = 0; events < 2; events++) {
        unsigned steady = sleeps_in(wait, 0);
        assert_in_range(steady, all, all + 2 * seldom);
        for (unsigned leap = all / 2; leap < all / 2 + 2000; leap += 97)
            assert_in_range(sleeps_in(wait, leap), steady - turn - seldom,
                            steady + 1);
    }
}

static void waits_on_any_rail(void **state)
{
    leaps_do_not_count(on_any_rail);
    slow_events_hide_nothing(any_rail);
}

static void waits_on_a_rail(void **state)
{
    leaps_do_not_count(on_its_rail);
    slow_events_hide_nothing(its_rail);
}

static void waits_in_two_parts(void **state)
{
    leaps_do_not_count(in_two_parts);
}

static void waits_for_the_end(void **state)
{
    leaps_do_not_count(for_the_end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waits_on_any_rail),
        cmocka_unit_test(waits_on_a_rail),
        cmocka_unit_test(waits_in_two_parts),
        cmocka_unit_test(waits_for_the_end),
    };
    rail.owner = &t;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
