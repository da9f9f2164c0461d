/* SPDX-License-Identifier: BSD-3-Clause */
/* The first rate of a size whose parts follow those of another. */
#include "unit.h"
#include "dapl_rail/stripe/tuning/rail_rate.h"

#define FAST  0.125
#define SLOW  (FAST / 2)
#define LONG  (64u << 10)
#define SHORT (8u << 10)

/* Two parts whose ends are found together, the second of another size. */
static void a_first_rate_is_not_absurd(void **state)
{
    struct rail_rate rates = {.rate = {0}};
    rail_rate_measure(&rates, 1, 1, LONG, (uint64_t)(LONG / FAST), true);
    assert_true(rates.rate[1] == FAST);
    rail_rate_measure(&rates, 2, 1, SHORT, 3, false);
    assert_true(rates.rate[2] > FAST / 2 && rates.rate[2] < FAST * 2);
    for (unsigned i = 0; i < 30; i++)
        rail_rate_measure(&rates, 2, 1, SHORT, (uint64_t)(SHORT / SLOW), false);
    assert_true(rates.rate[2] > SLOW * 0.9 && rates.rate[2] < SLOW * 1.1);
}

/* Where nothing was under way, it is what it seems. */
static void after_a_pause_it_is_what_was_measured(void **state)
{
    struct rail_rate rates = {.rate = {[1] = FAST}, .burst = {.slot = 1}};
    rail_rate_measure(&rates, 2, 1, SHORT, (uint64_t)(SHORT / SLOW), true);
    assert_true(rates.rate[2] == SLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_first_rate_is_not_absurd),
        cmocka_unit_test(after_a_pause_it_is_what_was_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
