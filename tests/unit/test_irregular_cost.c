/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model knows the lengths of the messages of an irregular all-to-all.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/offer.h"
#include "dapl_rail/dapl_rail.h"
#include "traffic.h"

#define TS  4096.0
#define TAU 0.125

enum { ELEMENT = 16 };

static const dcoll_cost_model_t network = {.ts = TS, .tau = TAU};
static const dcoll_cost_model_t memory = {.copy = 1};

static double cost_of(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                      const struct traffic *t, bool labelled,
                      const dcoll_cost_model_t *model)
{
    dcoll_traffic_t bounds = traffic_bounds(t, ELEMENT);
    const dcoll_args_t args = {.collective = DCOLL_ALLTOALLV,
                               .depth = a->depth ? a->depth : 2,
                               .traffic = &bounds};
    dcoll_program_t program;
    bounds.labelled = labelled;
    bounds.pulled = SIZE_MAX;
    bounds.max_pair += 3; /* rooms are not what is moved */
    bounds.max_rank += 3;
    assert_int_equal(dcoll_program_make(a, shape, &args, &program), 0);
    program.counts = t->counts;
    double time = dcoll_cost(&program, model);
    dcoll_program_free(&program);
    return time;
}

static double cost_flat(const dcoll_algorithm_t *a, const struct traffic *t,
                        bool labelled, const dcoll_cost_model_t *model)
{
    const unsigned node[] = {0, t->n};
    const dcoll_shape_t shape = {t->n, 1, node, 1};
    return cost_of(a, &shape, t, labelled, model);
}

/* Without counts there is no answer. */
static void test_no_counts(void **state)
{
    struct traffic t = {.n = 4, .counts = NULL};
    const unsigned node[] = {0, 4};
    const dcoll_shape_t shape = {4, 1, node, 1};
    const dcoll_traffic_t bounds = {
        .element = ELEMENT, .max_pair = 1, .max_rank = 4, .labelled = true};
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &bounds};
    dcoll_program_t program;
    assert_int_equal(
        dcoll_program_make(&alltoallv_direct, &shape, &args, &program), 0);
    program.counts = t.counts;
    assert_true(dcoll_cost(&program, &network) == DRAIL_ENOTSUP);
    dcoll_program_free(&program);
}

/* Equal counts: each step takes as long as its only message. */
static void test_equal(void **state)
{
    for (unsigned n = 2; n <= 9; n++)
        for (unsigned m = 0; m <= 3; m++) {
            struct traffic t = traffic_make(n, TRAFFIC_EQUAL, m, 1);
            double elements = (n - 1) * (TS + m * ELEMENT * TAU);
            double counts = (n - 1) * (TS + offer_table(1) * TAU);
            double heads = (n - 1) * BUNDLE_HEAD * TAU;
            double labels = m ? (n - 1) * BUNDLE_RUN * TAU : 0;
            assert_true(cost_flat(&alltoallv_direct, &t, true, &network) ==
                        elements + counts);
            assert_true(cost_flat(&alltoallv_a1, &t, true, &network) ==
                        elements + heads + labels);
            assert_true(cost_flat(&alltoallv_a1, &t, false, &network) ==
                        elements + heads);
            traffic_free(&t);
        }
}

/* Two rows of two: each stage has one message, of two ranks' elements. */
static void test_mesh(void **state)
{
    struct traffic t = traffic_make(4, TRAFFIC_EQUAL, 3, 1);
    double message = TS + (BUNDLE_HEAD + 2 * 3 * ELEMENT) * TAU;
    assert_true(cost_flat(&alltoallv_a3, &t, false, &network) == 2 * message);
    message += 2 * BUNDLE_RUN * TAU;
    assert_true(cost_flat(&alltoallv_a3, &t, true, &network) == 2 * message);
    traffic_free(&t);
}

/* Only ranks with elements for others pay for them. */
static void test_spike(void **state)
{
    struct traffic t = traffic_make(6, TRAFFIC_NONE, 1, 1);
    double none = cost_flat(&alltoallv_direct, &t, true, &network);
    t.counts[0 * 6 + 1] = 100;
    assert_true(cost_flat(&alltoallv_direct, &t, true, &network) ==
                none + 100 * ELEMENT * TAU);
    traffic_free(&t);
}

/* Three nodes of two: a bundle of four ranks' elements at the same time to
 * either of the others, each by another rank. */
static void test_nodes(void **state)
{
    static const unsigned node[] = {0, 2, 4, 6};
    const dcoll_shape_t shape = {6, 3, node, 1};
    struct traffic t = traffic_make(6, TRAFFIC_EQUAL, 3, 1);
    double bundle = (double)offer_section(2, 2) + 4 * 3 * ELEMENT;
    assert_true(cost_of(&alltoallv_smp, &shape, &t, true, &network) ==
                TS + bundle * TAU);
    /* to the tables, to the bundle, to RECV; its own once */
    assert_true(cost_of(&alltoallv_smp, &shape, &t, true, &memory) ==
                5 * 3 * ELEMENT + bundle + 6 * 3 * ELEMENT);
    traffic_free(&t);
}

/* Ranks move elements into buckets, and out of bundles. */
static void test_memory(void **state)
{
    struct traffic t = traffic_make(5, TRAFFIC_EQUAL, 2, 1);
    double all = 5 * 2 * ELEMENT, own = BUNDLE_HEAD + 2 * ELEMENT;
    assert_true(cost_flat(&alltoallv_a1, &t, false, &memory) == 2 * all + own);
    assert_true(cost_flat(&alltoallv_direct, &t, true, &memory) == all / 5);
    assert_true(cost_flat(&alltoallv_shm, &t, true, &memory) ==
                all - all / 5 + all);
    traffic_free(&t);
}

/* Every schedule has an end, and takes longer with more elements. */
static void test_all(void **state)
{
    const dcoll_cost_model_t model = {
        .ts = TS, .tau = TAU, .copy = 0.01, .flag = 1};
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular(); *a;
         a++)
        for (unsigned p = 0; p < TRAFFIC_PATTERNS; p++) {
            static const unsigned one[] = {0, 9}, two[] = {0, 5, 9};
            const dcoll_shape_t shape = {9, 1, one, 2}, nodes = {9, 2, two, 2};
            const bool between = *a == &alltoallv_smp || (*a)->by_counts;
            struct traffic few = traffic_make(9, p, 2, 1);
            struct traffic many = traffic_make(9, p, 2, 1);
            for (unsigned i = 0; i < 81; i++)
                many.counts[i] += 40;
            const dcoll_shape_t *s = between ? &nodes : &shape;
            double less = cost_of(*a, s, &few, true, &model);
            assert_true(less >= 0);
            assert_true(cost_of(*a, s, &many, true, &model) > less);
            traffic_free(&few);
            traffic_free(&many);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_counts), cmocka_unit_test(test_equal),
        cmocka_unit_test(test_mesh),      cmocka_unit_test(test_spike),
        cmocka_unit_test(test_nodes),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
