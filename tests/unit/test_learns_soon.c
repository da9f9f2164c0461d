/* SPDX-License-Identifier: BSD-3-Clause */
/* How many batches the choice of rails needs, and what they cost, with made-up
 * times of batches as long as those of benchmarks. */
#include <math.h>

#include "unit.h"
#include "dapl_rail/stripe/tuning/tuner.h"

#define MESSAGES 20 /* of a batch */
#define THREADS  (TUNER_THREADS | TUNER_RESTS)

/* Of messages of so many bytes: nanoseconds of a batch with the first rail,
 * with another one alone, with several, and with their threads. */
struct machine {
    double bytes, first, another, several, threads;
};

static const struct machine machines[] = {
    {4e6, 1e7, 1e7, 1e7, 4e6}, /* threads share the copy */
    {1e6, 1e6, 1e6, 1.1e6, 4e5},      {128e3, 8.4e4, 8.5e4, 8.4e4, 6.8e4},
    {32e3, 2.4e4, 2.4e4, 2.7e4, 3e4}, /* a single rail is the best */
    {16e3, 7.5e3, 7.3e3, 1.2e4, 3e4}, {64e3, 1e6, 1e6, 5e5, 6e5}, /* wires */
    {64e3, 1e6, 3e6, 1.5e6, 2e6}, /* a slow rail */
    {64e3, 2e6, 1e6, 1.5e6, 2e6}, /* … which is the first */
};
#define MACHINES (sizeof machines / sizeof machines[0])

static double batch_ns(const struct machine *m, uint32_t set)
{
    return set & WITH_THREADS   ? m->threads
           : several_rails(set) ? m->several
           : set == 1           ? m->first
                                : m->another;
}

static double best_ns(const struct machine *m)
{
    double one = m->first < m->another ? m->first : m->another;
    double all = m->several < m->threads ? m->several : m->threads;
    return one < all ? one : all;
}

static uint64_t rng;

/* Within 0 … 1. */
static double chance(void)
{
    rng ^= rng << 13;
    rng ^= rng >> 7;
    rng ^= rng << 17;
    return (double)(rng % 10001) / 10000;
}

/* How a machine disturbs the batch that takes so long. */
typedef double (*disturbance_t)(double ns);

static double none(double ns)
{
    return ns;
}

/* 3 % up and down; and another process runs for 3 ms, for a fifth of all the
 * time, but at least in every 20th batch. */
static double loaded(double ns)
{
    double often = 0.05 + ns / 15e6;
    ns *= 0.97 + 0.06 * chance();
    return chance() < often ? ns + 3e6 : ns;
}

/* Time of n batches. */
static double run(struct tuner *c, const struct machine *m, unsigned n,
                  disturbance_t disturb)
{
    double total = 0;
    while (n--) {
        uint32_t set = tuner_set(c);
        double ns = disturb(batch_ns(m, set));
        if (!tuner_rests(c, MESSAGES))
            tuner_measured(c, set, MESSAGES, m->bytes * MESSAGES, ns);
        total += ns;
    }
    return total;
}

static bool chose_well(const struct tuner *c, const struct machine *m)
{
    return batch_ns(m, c->champion) <= 1.03 * best_ns(m);
}

static int setup(void **state)
{
    rng = 88172645463325252ull;
    return 0;
}

/* Batches that are as long as, or together last for, so many milliseconds. */
static unsigned batches(const struct machine *m, double ms, unsigned least)
{
    double n = ms * 1e6 / best_ns(m);
    return n > least ? (unsigned)n : least;
}

static void few_batches_are_enough(void **state)
{
    for (unsigned i = 0; i < MACHINES; i++) {
        struct tuner c;
        tuner_init(&c, 3, THREADS);
        run(&c, &machines[i], batches(&machines[i], 10, 24), none);
        assert_true(chose_well(&c, &machines[i]));
    }
}

/* Long batches are not repeated for nothing. */
static void a_slow_way_is_taken_twice(void **state)
{
    const struct machine *m = &machines[0];
    struct tuner c;
    tuner_init(&c, 3, THREADS);
    double ns = run(&c, m, 20, none);
    assert_true(ns <= 13 * m->threads + 7 * m->first);
    ns = run(&c, m, 20, none);
    assert_true(ns == 20 * m->threads);
}

static void any_start_will_do(void **state)
{
    static const uint32_t starts[] = {1, 2, 3, 3 | WITH_THREADS};
    for (unsigned i = 0; i < MACHINES; i++)
        for (unsigned s = 0; s < 4; s++) {
            struct tuner c;
            tuner_init(&c, 3, THREADS);
            tuner_adopt(&c, starts[s]);
            assert_int_equal(tuner_set(&c), starts[s]);
            run(&c, &machines[i], batches(&machines[i], 10, 30), none);
            assert_true(chose_well(&c, &machines[i]));
            tuner_adopt(&c, starts[s]); /* too late */
            assert_true(chose_well(&c, &machines[i]));
        }
}

static void more_rails_need_more(void **state)
{
    for (unsigned i = 0; i < MACHINES; i++)
        for (unsigned n = 3; n <= 4; n++) {
            struct tuner c;
            tuner_init(&c, (1u << n) - 1, THREADS);
            run(&c, &machines[i], batches(&machines[i], 20, 70), none);
            assert_true(chose_well(&c, &machines[i]));
        }
}

/* All machines come to the right end nearly always. */
static void other_processes_run(void **state)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < MACHINES; i++)
        for (unsigned n = 0; n < 100; n++) {
            struct tuner c;
            tuner_init(&c, 3, THREADS);
            run(&c, &machines[i], batches(&machines[i], 30, 40), loaded);
            wrong += !chose_well(&c, &machines[i]);
        }
    assert_true(wrong <= MACHINES * 100 / 25);
}

/* After that, trials lose 1 % of the time, however slow a way is. */
static void trials_cost_little(void **state)
{
    static const struct machine slow = {1e6, 1e6, 3e6, 3e6, 3e8};
    for (unsigned i = 0; i <= MACHINES; i++) {
        const struct machine *m = i < MACHINES ? &machines[i] : &slow;
        struct tuner c;
        unsigned n = batches(m, 20000, 20000);
        tuner_init(&c, 3, THREADS);
        run(&c, m, batches(m, 5, 40), none);
        assert_true(run(&c, m, n, none) < 1.012 * n * best_ns(m));
    }
}

/* Both sides send batches to each other, and each waits for the other's. Where
 * they take the same way they are as fast as the machine is; one that differs
 * is of no use. */
static void both_sides_change_together(void **state)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < MACHINES; i++)
        for (unsigned k = 0; k < 50; k++) {
            const struct machine *m = &machines[i];
            struct tuner c[2];
            tuner_init(&c[0], 3, THREADS);
            tuner_init(&c[1], 3, THREADS);
            for (unsigned n = batches(m, 10, 30); n; n--) {
                uint32_t set[2] = {tuner_set(&c[0]), tuner_set(&c[1])};
                double ns = set[0] == set[1] ? batch_ns(m, set[0])
                                             : 1.5 * fmax(batch_ns(m, set[0]),
                                                          batch_ns(m, set[1]));
                ns = loaded(ns);
                for (unsigned s = 0; s < 2; s++)
                    if (!tuner_rests(&c[s], MESSAGES))
                        tuner_measured(&c[s], set[s], MESSAGES,
                                       m->bytes * MESSAGES,
                                       ns * (0.99 + 0.02 * chance()));
            }
            wrong += !chose_well(&c[0], m) || !chose_well(&c[1], m);
        }
    assert_true(wrong <= MACHINES * 50 / 10);
}

static void changes_are_followed(void **state)
{
    for (unsigned i = 0; i < MACHINES; i++)
        for (unsigned k = 0; k < MACHINES; k++) {
            struct tuner c;
            tuner_init(&c, 3, THREADS);
            run(&c, &machines[i], batches(&machines[i], 5, 1000), none);
            assert_true(chose_well(&c, &machines[i]));
            run(&c, &machines[k], batches(&machines[k], 1000, 20000), none);
            assert_true(chose_well(&c, &machines[k]));
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(few_batches_are_enough, setup),
        cmocka_unit_test_setup(a_slow_way_is_taken_twice, setup),
        cmocka_unit_test_setup(any_start_will_do, setup),
        cmocka_unit_test_setup(more_rails_need_more, setup),
        cmocka_unit_test_setup(other_processes_run, setup),
        cmocka_unit_test_setup(trials_cost_little, setup),
        cmocka_unit_test_setup(both_sides_change_together, setup),
        cmocka_unit_test_setup(changes_are_followed, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
