/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Short messages in a row over wires of unequal rate, each of which begins when
 * the WINDOW-th before it is complete. The clock is the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dapl_rail/stripe/tuning/pace.h"

#define RAILS  2u
#define WINDOW 64u
#define LEARN  4000u
#define FAST   1.0

static const double equal[RAILS] = {1, 1};
static int peer;

struct wires {
    struct pace pace;
    double rate[RAILS], free_at[RAILS], now;
    double ends[RAILS][2 * WINDOW]; /* of the latest messages */
    double done[WINDOW];            /* when each of the window is */
    uint64_t posted[RAILS], complete[RAILS], sent;
};

static void post(struct wires *w)
{
    double *window = &w->done[w->sent++ % WINDOW];
    if (*window > w->now)
        w->now = *window;
    for (unsigned r = 0; r < RAILS; r++)
        while (w->complete[r] < w->posted[r] &&
               w->ends[r][w->complete[r] % (2 * WINDOW)] <= w->now)
            w->complete[r]++;
    unsigned r =
        pace_pick(&w->pace, &peer, RAILS, equal, w->posted, w->complete);
    double from = w->free_at[r] > w->now ? w->free_at[r] : w->now;
    *window = w->free_at[r] = from + 1 / w->rate[r];
    w->ends[r][w->posted[r]++ % (2 * WINDOW)] = *window;
}

/* Messages in a unit of time, once it has learnt. */
static double stream(struct wires *w, double first, double second)
{
    w->rate[0] = first;
    w->rate[1] = second;
    for (unsigned i = 0; i < LEARN; i++)
        post(w);
    double from = w->now;
    for (unsigned i = 0; i < LEARN; i++)
        post(w);
    return LEARN / (w->now - from);
}

static void both_carry_what_they_can(void **state)
{
    static const double ratios[] = {1, 1.5, 2, 4, 10};
    for (unsigned i = 0; i < sizeof ratios / sizeof *ratios; i++) {
        struct wires a = {0}, b = {0};
        double other = FAST / ratios[i], most = FAST + other;
        assert_true(stream(&a, FAST, other) > 0.95 * most);
        assert_true(stream(&b, other, FAST) > 0.95 * most);
    }
}

static void a_change_is_followed(void **state)
{
    struct wires w = {0};
    assert_true(stream(&w, FAST, FAST) > 0.95 * 2 * FAST);
    assert_true(stream(&w, FAST, FAST / 10) > 0.95 * 1.1 * FAST);
    assert_true(stream(&w, FAST, FAST) > 0.95 * 2 * FAST);
}

/* Messages that all begin at once tell nothing before one rail is done. */
static void the_order_of_posting_is_no_rate(void **state)
{
    struct wires w = {.rate = {FAST, FAST}};
    for (unsigned burst = 0; burst < 100; burst++) {
        for (unsigned i = 0; i < 20; i++)
            post(&w);
        w.now += 1000;
    }
    for (unsigned r = 0; r < RAILS; r++)
        assert_int_equal(w.posted[r], 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_carry_what_they_can),
        cmocka_unit_test(a_change_is_followed),
        cmocka_unit_test(the_order_of_posting_is_no_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
