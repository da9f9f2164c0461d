/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of rails, with made-up times: what it settles on, and what
 * finding out costs. */
#include "unit.h"
#include "dapl_rail/stripe/tuning/tuner.h"

#define BYTES  65536.0
#define ALL(n) ((1u << (n)) - 1)

/* Nanoseconds of a message over a set of rails. */
typedef double (*machine_t)(uint32_t set);

static uint64_t rng;
static unsigned timed; /* messages of the present test */
static double length;  /* of its messages, times as long as the machine's */

/* Within 1 - spread … 1 + spread. */
static double noise(double spread)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return 1 + spread * ((double)(rng % 2001) / 1000 - 1);
}

/* Time of n messages, sent one after the other. */
static double run(struct tuner *c, machine_t machine, unsigned n, double spread)
{
    double total = 0;
    while (n--) {
        uint32_t set = tuner_set(c);
        double ns = machine(set) * length * noise(spread);
        if (!tuner_rests(c, 1)) {
            tuner_measured(c, set, 1, BYTES, ns);
            timed++;
        }
        total += ns;
    }
    return total;
}

static int setup(void **state)
{
    rng = 88172645463325252ull;
    timed = 0;
    length = 1;
    return 0;
}

/* Rails of rate 2, 1, 1, … share the work. */
static double adding(uint32_t set)
{
    return 1e5 / (__builtin_popcount(set) + (set & 1));
}

/* The second rail slows the first down. */
static double hurting(uint32_t set)
{
    return set == 1 ? 1e5 : set == 2 ? 2e5 : 1.2e5;
}

static double far(uint32_t set)
{
    return set & 2 ? 1e7 : 1e5;
}

static double equal(uint32_t set)
{
    return 1e5;
}

/* Copies that two cores share, … */
static double threads_pay(uint32_t set)
{
    return set & WITH_THREADS ? 0.6e5 : 1e5;
}

/* … and those that are over before a thread has woken up. */
static double threads_hurt(uint32_t set)
{
    return set & WITH_THREADS ? 4e5 : several_rails(set) ? 1.2e5 : 1e5;
}

/* Nothing is faster than 0, 2 and 3 with threads. */
static double threads_for_three(uint32_t set)
{
    double rate = __builtin_popcount(set & 13);
    rate /= 1 + 0.2 * __builtin_popcount(set & 2);
    return 1e5 / (set & WITH_THREADS ? rate : 0.2 + 0.2 * rate);
}

/* Of four rails, 0 and 2 go well together, all others are in the way. */
static double two_of_four(uint32_t set)
{
    double rate = (set & 1) + (set >> 2 & 1) + 0.1;
    return 1e5 / rate * (1 + 0.3 * __builtin_popcount(set & 10));
}

static void all_rails_when_they_add_up(void **state)
{
    struct tuner c;
    for (unsigned n = 2; n <= DRAIL_MAX_RAILS; n *= 2) {
        tuner_init(&c, ALL(n), 0);
        assert_int_equal(tuner_set(&c), (1u << n) - 1);
        run(&c, adding, 1000, 0.02);
        assert_int_equal(c.champion, (1u << n) - 1);
    }
}

/* The transport rules single rails out: the tuner does not try them. It
 * compares the other sets of rails as before. */
static void rules_out(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(2), TUNER_THREADS);
    for (unsigned i = 0; i < 3000; i++) {
        while (tuner_tries_one_rail(&c))
            tuner_rule_out(&c);
        assert_true(several_rails(tuner_set(&c)));
        run(&c, threads_pay, 1, 0.02);
    }
    assert_int_equal(c.champion, 3 | WITH_THREADS);
    assert_true(c.seen[TUNER_SEVERAL] > 0 && c.seen[TUNER_ONE] == 0);
}

static void one_rail_is_no_choice(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(1), 0);
    run(&c, equal, 1000, 0);
    assert_int_equal(tuner_set(&c), 1);
    assert_false(tuner_tries(&c));
}

static void leaves_out_what_hurts(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(2), 0);
    run(&c, hurting, 100, 0.01);
    assert_int_equal(c.champion, 1);
    assert_true(c.lost[1].with > 0 && c.lost[1].with < c.lost[1].without);
    run(&c, hurting, 5000, 0.01);
    assert_int_equal(c.champion, 1);
}

/* After the first round, trials lose at most the budget, however slow the
 * other rails are. */
static void trials_are_affordable(void **state)
{
    static const struct {
        machine_t machine;
        double best;
    } cases[] = {{adding, 1e5 / 3}, {hurting, 1e5}, {far, 1e5}};
    for (unsigned i = 0; i < 3; i++) {
        struct tuner c;
        tuner_init(&c, ALL(2), 0);
        run(&c, cases[i].machine, 200, 0.02);
        double ns = run(&c, cases[i].machine, 100000, 0.02);
        assert_true(ns < 1.02 * 100000 * cases[i].best);
        /* and there are some */
        assert_true(c.since < 15000);
    }
}

static void settles_in_spite_of_noise(void **state)
{
    for (unsigned i = 0; i < 200; i++) {
        struct tuner c;
        tuner_init(&c, ALL(2), 0);
        run(&c, adding, 500, 0.25);
        assert_int_equal(c.champion, 3);
    }
}

static void climbs_to_the_best_set(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(4), 0);
    run(&c, two_of_four, 20000, 0.02);
    assert_int_equal(c.champion, 5);
    assert_true(c.lost[1].with > 0 && c.lost[3].with > 0);
}

static void follows_a_change(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(2), 0);
    run(&c, hurting, 1000, 0.02);
    assert_int_equal(c.champion, 1);
    /* its own rate changes: at once */
    run(&c, adding, 200, 0.02);
    assert_int_equal(c.champion, 3);
    /* and back; it notices that it has become slower */
    run(&c, hurting, 1000, 0.02);
    assert_int_equal(c.champion, 1);
}

/* Only the other set has become better: found by the next affordable trial. */
static double freed(uint32_t set)
{
    return set == 3 ? 0.6e5 : hurting(set);
}

static void finds_what_has_become_better(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(2), 0);
    run(&c, hurting, 1000, 0.02);
    assert_int_equal(c.champion, 1);
    run(&c, freed, 4000, 0.02);
    assert_int_equal(c.champion, 3);
}

static void batches_settle_sooner(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(2), 0);
    for (unsigned i = 0; i < 30; i++) {
        uint32_t set = tuner_set(&c);
        tuner_measured(&c, set, 20, 20 * BYTES, 20 * hurting(set));
    }
    assert_int_equal(c.champion, 1);
}

/* With many messages under way, those of the epoch before end later. */
static void messages_of_other_epochs_do_not_count(void **state)
{
    struct tuner c;
    uint32_t sets[32];
    tuner_init(&c, ALL(2), 0);
    for (unsigned i = 0; i < 32; i++)
        sets[i] = tuner_set(&c);
    for (unsigned i = 0; i < 2000; i++) {
        tuner_measured(&c, sets[i % 32], 1, BYTES, hurting(sets[i % 32]));
        sets[i % 32] = tuner_set(&c);
    }
    assert_int_equal(c.champion, 1);
    struct tuner before = c;
    tuner_measured(&c, 3 & ~tuner_set(&c), 1, BYTES, 1);
    assert_memory_equal(&before, &c, sizeof c);
}

/* Messages that overtake those of the epoch before seem to take no time. */
static void overtaking_is_no_merit(void **state)
{
    struct tuner c;
    bool over = false;
    tuner_init(&c, ALL(2), 0);
    for (unsigned i = 0; i < 2000; i++) {
        uint32_t set = tuner_set(&c);
        unsigned messages = c.epoch.messages;
        bool fresh = set == 2 && c.epoch.skip && !messages && !over;
        over = fresh ? true : set != 2 ? false : over;
        tuner_measured(&c, set, 1, BYTES, fresh ? 0 : hurting(set));
        assert_true(!fresh || c.epoch.skip > 0);
        assert_int_not_equal(c.champion, 2);
    }
    assert_int_equal(c.champion, 1);
}

static void threads_where_they_pay(void **state)
{
    struct tuner c;
    for (unsigned n = 2; n <= 4; n++) {
        tuner_init(&c, ALL(n), TUNER_THREADS);
        assert_int_equal(tuner_set(&c), ALL(n)); /* none to begin with */
        run(&c, threads_pay, 2000, 0.01);
        assert_true(c.champion & WITH_THREADS);
        tuner_init(&c, ALL(n), TUNER_THREADS);
        run(&c, threads_hurt, 2000, 0.01);
        assert_false(several_rails(c.champion) || c.champion & WITH_THREADS);
    }
}

static void threads_only_if_allowed(void **state)
{
    struct tuner c;
    for (unsigned n = 2; n <= 4; n++) {
        tuner_init(&c, ALL(n), 0);
        for (unsigned i = 0; i < 5000; i++) {
            run(&c, threads_pay, 1, 0.2);
            assert_false(tuner_set(&c) & WITH_THREADS);
        }
    }
}

static void one_rail_needs_no_thread(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(3), TUNER_THREADS);
    for (unsigned i = 0; i < 20000; i++) {
        uint32_t set = tuner_set(&c);
        assert_true(set & ALL(3));
        assert_true(several_rails(set) || !(set & WITH_THREADS));
        run(&c, i < 10000 ? threads_pay : threads_hurt, 1, 0.05);
    }
}

static void climbs_to_threads_for_some_rails(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(4), TUNER_THREADS);
    run(&c, threads_for_three, 50000, 0.02);
    assert_int_equal(c.champion, 13 | WITH_THREADS);
}

/* The holder of the title is none of the other candidates. */
static void many_rails_have_room_in_a_contest(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(16), TUNER_THREADS);
    tuner_adopt(&c, ALL(15));
    assert_int_equal(c.comparison.count, 19);
    assert_int_equal(c.comparison.in, ALL(19));
    run(&c, adding, 2000, 0.02);
    assert_true(c.settled);
}

/* A transfer that began over other rails does not count for the adopted
 * ones. */
static void adopts_with_a_new_epoch(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(2), 0);
    run(&c, equal, 3, 0);
    tuner_adopt(&c, 1);
    assert_true(c.epoch.skip > 0);
    assert_true(c.epoch.messages == 0);
}

static void knows_each_kind(void **state)
{
    struct tuner c;
    tuner_init(&c, ALL(2), TUNER_THREADS);
    run(&c, threads_hurt, 2000, 0);
    assert_float_equal(c.seen[TUNER_ONE], BYTES / 1e5, 0.001);
    assert_float_equal(c.seen[TUNER_SEVERAL], BYTES / 1.2e5, 0.001);
    assert_float_equal(c.seen[TUNER_TEAM], BYTES / 4e5, 0.001);
}

/* Another process takes the core now and then, for hundreds of messages. */
static void settles_in_spite_of_preemption(void **state)
{
    for (unsigned i = 0; i < 200; i++) {
        struct tuner c;
        tuner_init(&c, ALL(2), TUNER_THREADS | TUNER_RESTS);
        for (unsigned n = 0; n < 2000; n++) {
            uint32_t set = tuner_set(&c);
            double ns = threads_pay(set) * noise(0.1);
            if (noise(1) < 0.02) /* 1 in 100 */
                ns += 4e7;
            if (!tuner_rests(&c, 1))
                tuner_measured(&c, set, 1, BYTES, ns);
        }
        assert_int_equal(c.champion, 3 | WITH_THREADS);
    }
}

/* Most short messages are not timed, and trials cost no more than with timing.
 */
static void rests(void **state)
{
    static const struct {
        machine_t machine;
        double best;
    } cases[] = {{threads_pay, 0.6e4}, {threads_hurt, 1e4}, {far, 1e4}};
    length = 0.1;
    for (unsigned i = 0; i < 3; i++) {
        struct tuner c;
        tuner_init(&c, ALL(2), TUNER_THREADS | TUNER_RESTS);
        run(&c, cases[i].machine, 2000, 0.02);
        timed = 0;
        double ns = run(&c, cases[i].machine, 100000, 0.02);
        assert_true(ns < 1.02 * 100000 * cases[i].best);
        assert_true(timed < 10000);
        assert_true(c.since < 15000);
    }
}

static void follows_a_change_after_its_rest(void **state)
{
    struct tuner c;
    length = 0.1;
    tuner_init(&c, ALL(2), TUNER_THREADS | TUNER_RESTS);
    run(&c, threads_pay, 2000, 0.02);
    assert_int_equal(c.champion, 3 | WITH_THREADS);
    run(&c, threads_hurt, 20000, 0.02);
    assert_false(several_rails(c.champion));
    run(&c, threads_pay, 20000, 0.02);
    assert_int_equal(c.champion, 3 | WITH_THREADS);
}

/* Messages that were timed for others' sake. */
static void unasked_times_do_not_count(void **state)
{
    struct tuner c;
    length = 0.1;
    tuner_init(&c, ALL(2), TUNER_RESTS);
    for (unsigned i = 0; i < 10000 && !c.rest; i++)
        run(&c, equal, 1, 0);
    assert_true(c.rest > 0);
    struct tuner before = c;
    tuner_measured(&c, tuner_set(&c), 1, BYTES, 1);
    assert_memory_equal(&before, &c, sizeof c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(all_rails_when_they_add_up, setup),
        cmocka_unit_test_setup(rules_out, setup),
        cmocka_unit_test_setup(one_rail_is_no_choice, setup),
        cmocka_unit_test_setup(leaves_out_what_hurts, setup),
        cmocka_unit_test_setup(trials_are_affordable, setup),
        cmocka_unit_test_setup(settles_in_spite_of_noise, setup),
        cmocka_unit_test_setup(climbs_to_the_best_set, setup),
        cmocka_unit_test_setup(follows_a_change, setup),
        cmocka_unit_test_setup(finds_what_has_become_better, setup),
        cmocka_unit_test_setup(batches_settle_sooner, setup),
        cmocka_unit_test_setup(messages_of_other_epochs_do_not_count, setup),
        cmocka_unit_test_setup(overtaking_is_no_merit, setup),
        cmocka_unit_test_setup(threads_where_they_pay, setup),
        cmocka_unit_test_setup(threads_only_if_allowed, setup),
        cmocka_unit_test_setup(one_rail_needs_no_thread, setup),
        cmocka_unit_test_setup(climbs_to_threads_for_some_rails, setup),
        cmocka_unit_test_setup(many_rails_have_room_in_a_contest, setup),
        cmocka_unit_test_setup(adopts_with_a_new_epoch, setup),
        cmocka_unit_test_setup(knows_each_kind, setup),
        cmocka_unit_test_setup(settles_in_spite_of_preemption, setup),
        cmocka_unit_test_setup(rests, setup),
        cmocka_unit_test_setup(follows_a_change_after_its_rest, setup),
        cmocka_unit_test_setup(unasked_times_do_not_count, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
