/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm that `auto` takes for an irregular all-to-all, by shape and
 * bounds.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/select/irregular.h"

static const unsigned one[] = {0, 8}, four[] = {0, 2, 4, 6, 8},
                      each[] = {0, 1, 2, 3};

static const dcoll_algorithm_t *chosen_on(bool spread, const unsigned *node,
                                          unsigned nodes, uint64_t max_rank,
                                          size_t element, bool expected)
{
    const dcoll_shape_t shape = {node[nodes], nodes, node, 1};
    const dcoll_traffic_t traffic = {.element = element,
                                     .max_pair = max_rank,
                                     .max_rank = max_rank,
                                     .labelled = true};
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &traffic};
    return irregular_select(&shape, &args, spread, expected);
}

static const dcoll_algorithm_t *chosen_of(const unsigned *node, unsigned nodes,
                                          uint64_t max_rank, size_t element,
                                          bool expected)
{
    return chosen_on(true, node, nodes, max_rank, element, expected);
}

static const dcoll_algorithm_t *chosen(const unsigned *node, unsigned nodes,
                                       uint64_t max_rank, bool expected)
{
    return chosen_of(node, nodes, max_rank, 48, expected);
}

static void test_one_node(void **state)
{
    assert_ptr_equal(chosen(one, 1, 0, false), &alltoallv_shm);
    assert_ptr_equal(chosen(one, 1, 1 << 20, true), &alltoallv_shm);
}

/* Between nodes it depends on what there is. */
static void test_nodes(void **state)
{
    assert_null(chosen(four, 4, 0, true));
    for (unsigned expected = 0; expected < 2; expected++) {
        assert_ptr_equal(chosen(four, 4, 1, expected), &alltoallv_smp);
        assert_ptr_equal(chosen(each, 3, 1, expected), &alltoallv_smp);
        assert_ptr_equal(chosen(four, 4, 8 << 10, expected), &alltoallv_smp);
    }
}

/* Long parts go straight to their places, if these are known. */
static void test_long_parts(void **state)
{
    assert_ptr_equal(chosen(four, 4, 16 << 10, true), &alltoallv_direct);
    assert_ptr_equal(chosen(four, 4, 16 << 10, false), &alltoallv_a1_n1);
}

/* Also if there are fewer elements than ranks. */
static void test_long_elements(void **state)
{
    assert_ptr_equal(chosen_of(four, 4, 1, 1 << 20, true), &alltoallv_direct);
    assert_ptr_equal(chosen_of(four, 4, 7, 128 << 10, false), &alltoallv_a1_n1);
    assert_ptr_equal(chosen_of(four, 4, 15, 64 << 10, true), &alltoallv_direct);
    assert_ptr_equal(chosen_of(four, 4, 7, 64 << 10, true), &alltoallv_smp);
    assert_ptr_equal(chosen_of(four, 4, UINT64_MAX / 2, 64, true),
                     &alltoallv_direct);
}

/* Nodes of one host share its memory: there, shorter parts go straight. */
static void test_one_host(void **state)
{
    const uint64_t most = 8 * (32 << 10) / 64;
    assert_ptr_equal(chosen_on(false, four, 4, most - 1, 64, true),
                     &alltoallv_smp);
    assert_ptr_equal(chosen_on(false, four, 4, most, 64, true),
                     &alltoallv_direct);
    assert_ptr_equal(chosen_on(true, four, 4, most, 64, true), &alltoallv_smp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node),   cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_long_parts), cmocka_unit_test(test_long_elements),
        cmocka_unit_test(test_one_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
