/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost model for thousands of ranks needs memory for the messages that
 * exist, not for all pairs of ranks.
 */
#include <math.h>
#include <sys/resource.h>

#include "unit.h"
#include "coll/algorithms/algorithms.h"

#define RANKS   4096u
#define BYTES   64u
#define MOST_KB (128l << 10) /* streams of all pairs: 400 MB */

static long peak_kb(void)
{
    struct rusage usage;
    assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
    return usage.ru_maxrss;
}

static void test_bruck(void **state)
{
    static unsigned nodes[RANKS + 1];
    const dcoll_shape_t shape = {RANKS, dcoll_shape_nodes(RANKS, 1, nodes),
                                 nodes, 1};
    const dcoll_args_t args = {
        .collective = DCOLL_ALLGATHER, .bytes = BYTES, .depth = 2};
    const dcoll_cost_model_t model = {.ts = 1, .tau = 0.5};
    dcoll_program_t p;
    assert_int_equal(dcoll_program_make(&allgather_bruck, &shape, &args, &p),
                     0);
    long before = peak_kb();
    double time = dcoll_cost(&p, &model);
    assert_true(peak_kb() - before < MOST_KB);
    assert_true(time == log2(RANKS) + (RANKS - 1) * BYTES * 0.5);
    dcoll_program_free(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bruck),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
