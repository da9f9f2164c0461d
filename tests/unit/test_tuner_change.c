/* SPDX-License-Identifier: BSD-3-Clause */
/* How soon the choice of rails notices that its champion has become another,
 * with made-up times. */
#include "unit.h"
#include "dapl_rail/stripe/tuning/tuner.h"

#define BYTES 65536.0

/* Nanoseconds of a message over the first rail and over all others. */
struct machine {
    double first, others;
};

static double message_ns(const struct machine *m, uint32_t set)
{
    return set == 1 ? m->first : m->others;
}

/* A batch of so many messages. */
static void run_one(struct tuner *c, const struct machine *m, unsigned messages)
{
    uint32_t set = tuner_set(c);
    if (!tuner_rests(c, messages))
        tuner_measured(c, set, messages, messages * BYTES,
                       messages * message_ns(m, set));
}

static void run(struct tuner *c, const struct machine *m, unsigned messages,
                unsigned n)
{
    while (n--)
        run_one(c, m, messages);
}

/* Batches until the first rail loses the title, or as many as that. */
static unsigned run_until_lost(struct tuner *c, const struct machine *m,
                               unsigned messages, unsigned most)
{
    unsigned n = 0;
    for (; n < most && c->champion == 1; n++)
        run_one(c, m, messages);
    return n;
}

static void settle(struct tuner *c, const struct machine *m, unsigned messages)
{
    tuner_init(c, 3, TUNER_THREADS | TUNER_RESTS);
    run(c, m, messages, 200);
    assert_int_equal(c->champion, 1);
}

/* Of 4 ms each: that the champion takes 100 times as long is seen at once. */
static void long_batches_do_not_rest(void **state)
{
    const struct machine m = {2e5, 4e5}, slow = {2e7, 4e5};
    struct tuner c;
    settle(&c, &m, 20);
    assert_in_range(run_until_lost(&c, &slow, 20, 1000), 1, 30);
}

/* That the process has stood still in a trial does not blind for long. */
static void a_stop_in_a_trial_is_forgotten(void **state)
{
    const struct machine m = {1e5, 2e5}, slow = {1e7, 2e5};
    struct tuner c;
    settle(&c, &m, 1);
    for (unsigned i = 0; i < 100000 && !tuner_tries(&c); i++)
        run_one(&c, &m, 1);
    assert_true(tuner_tries(&c));
    tuner_measured(&c, tuner_set(&c), 1, BYTES, 1e10);
    run(&c, &m, 1, 1000);
    assert_int_equal(c.champion, 1);
    assert_in_range(run_until_lost(&c, &slow, 1, 100000), 1, 300);
}

/* Trials cost their budget all the time, and the machine has changed often;
 * but it is not so that changes are not looked at any more. */
static void often_changed_but_watched(void **state)
{
    const struct machine fast = {1e5, 2e6}, slow = {2e5, 4e6};
    struct tuner c;
    settle(&c, &fast, 1);
    for (unsigned i = 0; i < 20; i++)
        run(&c, i % 2 ? &fast : &slow, 1, 20000);
    run(&c, &fast, 1, 100000);
    assert_float_equal(c.usual, BYTES / 1e5, 0.01);
    run(&c, &slow, 1, 2000);
    assert_float_equal(c.usual, BYTES / 2e5, 0.01);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(long_batches_do_not_rest),
        cmocka_unit_test(a_stop_in_a_trial_is_forgotten),
        cmocka_unit_test(often_changed_but_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
