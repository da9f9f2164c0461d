/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/degrade/recovery.c, from rates that are known. */
#include <math.h>
#include "unit.h"
#include "bench/degrade/recovery.h"

#define END      1000 /* ms */
#define INTERVAL 20

static uint32_t bytes[END];
static const bins_t bins = {bytes, END};
static const capacity_t two = {{100, 60}, 150, 2};

/* MB/s from there to there. */
static void rate(unsigned from, unsigned to, unsigned value)
{
    for (unsigned i = from; i < to; i++)
        bytes[i] = value * 1000;
}

static bool near(double a, double b)
{
    return fabs(a - b) < 1e-6 * fabs(b) + 1e-9;
}

static recovery_t of(const events_t *events, unsigned index)
{
    return recovery_of(&bins, events, index, &two, INTERVAL, 0);
}

static void a_cut(void **state)
{
    static const events_t events = {
        {{EVENT_CUT, 1, 1, 400000000, 400000000, 0}}, 1, 0, 0};
    rate(0, 400, 150);
    rate(400, 430, 0);
    rate(430, 500, 50);
    rate(500, END, 100);
    recovery_t r = of(&events, 0);
    assert_true(near(r.before, 150));
    assert_true(near(r.possible, 100));
    assert_true(r.dip == 0);
    assert_true(near(r.stall_ms, 30));
    /* from 98 ms on: 2 ms of half the rate are 95 % */
    assert_true(near(r.ms, 98));
    assert_true(r.after > 99 && r.after <= 100);
}

/* Too slow for ever: no recovery, whatever the time. */
static void no_recovery(void **state)
{
    static const events_t events = {
        {{EVENT_CUT, 1, 1, 400000000, 400000000, 0}}, 1, 0, 0};
    rate(0, 400, 150);
    rate(400, END, 90);
    recovery_t r = of(&events, 0);
    assert_true(isnan(r.ms));
    assert_true(near(r.dip, 90));
    assert_true(near(r.after, 90));
}

/* It returns, and is there at once; a slower one; none is seen behind the next
 * event. */
static void several(void **state)
{
    static const events_t events = {{{EVENT_CUT, 0, 1, 0, 200000000, 0},
                                     {EVENT_BACK, 0, 1, 0, 400000000, 0},
                                     {EVENT_SLOW, 0, 0.5, 0, 600000000, 0},
                                     {EVENT_SLOW, 0, 1, 0, 800000000, 0}},
                                    4,
                                    0,
                                    0};
    rate(0, 200, 150);
    rate(200, 400, 10);
    rate(400, 600, 150);
    rate(600, 800, 110);
    rate(800, END, 150);
    recovery_t r = of(&events, 0);
    assert_true(near(r.possible, 60) && isnan(r.ms) && near(r.dip, 10));
    r = of(&events, 1);
    assert_true(near(r.before, 10) && near(r.possible, 150) && r.ms == 0);
    r = of(&events, 2);
    assert_true(near(r.before, 150) && near(r.possible, 110) && r.ms == 0);
    r = of(&events, 3);
    assert_true(near(r.possible, 150) && r.ms == 0 && near(r.after, 150));
}

/* Messages come whole: an interval may miss one. */
static void whole_messages(void **state)
{
    static const events_t events = {
        {{EVENT_SLOW, 1, 1, 0, 400000000, 0}}, 1, 0, 0};
    rate(0, END, 0);
    for (unsigned i = 0; i < END; i += 7) /* 150 MB/s */
        bytes[i] = 7 * 150000;
    recovery_t r = recovery_of(&bins, &events, 0, &two, INTERVAL, 7 * 150000);
    assert_true(r.ms == 0 && r.dip > 140);
    assert_true(isnan(of(&events, 0).ms) || of(&events, 0).ms > 0);
}

static void at_the_edge(void **state)
{
    static const events_t events = {{{EVENT_CUT, 0, 1, 0, 0, 0},
                                     {EVENT_CUT, 1, 1, 0, 995000000, 0},
                                     {EVENT_BACK, 1, 1, 0, 2000000000, 0}},
                                    3,
                                    0,
                                    0};
    rate(0, END, 60);
    assert_true(isnan(of(&events, 0).before));
    assert_true(of(&events, 0).ms == 0);
    assert_true(isnan(of(&events, 1).ms)); /* no interval is left */
    assert_true(isnan(of(&events, 2).ms));
    assert_true(isnan(bins_rate(&bins, 5, 5)));
    assert_true(isnan(bins_rate(&bins, 0, END + 1)));
}

/* An interval hides it, as what came before has been more than is possible
 * now; but the time until the stall's end counts, from the event on. */
static void a_short_stall(void **state)
{
    static const events_t events = {
        {{EVENT_CUT, 1, 1, 400000000, 400000000, 487000000}}, 1, 0, 0};
    rate(0, 403, 150);
    rate(403, 409, 0);
    rate(409, END, 100);
    recovery_t r = of(&events, 0);
    assert_true(near(r.stall_ms, 6));
    assert_true(near(r.ms, 9));
    assert_true(near(r.seen_ms, 87));
}

/* More than the trials before the stream have shown. */
static void more_is_possible(void **state)
{
    static const events_t events = {
        {{EVENT_CUT, 1, 1, 800000000, 800000000, 0}}, 1, 0, 0};
    capacity_t shown = two;
    rate(0, 200, 150);
    rate(200, 800, 158);
    rate(800, END, 300);
    capacity_raise(&shown, &bins, &events);
    assert_true(near(shown.all, 158));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cut),
        cmocka_unit_test(no_recovery),
        cmocka_unit_test(several),
        cmocka_unit_test(whole_messages),
        cmocka_unit_test(at_the_edge),
        cmocka_unit_test(a_short_stall),
        cmocka_unit_test(more_is_possible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
