/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nodes of unequal size: the ranks per node are those of the largest node.
 * Tables store that number, and `auto` selects by it.
 */
#include "unit.h"
#include "coll/select/table.h"
#include "dapl_rail/dapl_rail.h"

static const unsigned small_first[] = {0, 1, 4};
static const unsigned large_first[] = {0, 3, 4};
static const dcoll_shape_t shapes[] = {{4, 2, small_first, 2},
                                       {4, 2, large_first, 2}};
#define SHAPES (sizeof shapes / sizeof *shapes)

static void test_most_of_a_node(void **state)
{
    for (unsigned i = 0; i < SHAPES; i++)
        assert_int_equal(dcoll_shape_ppn(&shapes[i]), 3);
}

/* Of 4 nodes with 1 rank each, and of 2 with at most 3. */
static void test_row_of_a_table(void **state)
{
    dcoll_table_row_t rows[] = {{.ppn = 1}, {.ppn = 3}};
    const char *const names[] = {"ring", "doubling"};
    const dcoll_table_t table = {rows, 2};
    for (unsigned i = 0; i < 2; i++) {
        rows[i].collective = DCOLL_ALLGATHER;
        rows[i].ranks = 4;
        rows[i].ports = 2;
        rows[i].bytes = 64;
        rows[i].algorithm = dcoll_algorithm_find(DCOLL_ALLGATHER, names[i]);
        assert_non_null(rows[i].algorithm);
    }
    for (unsigned i = 0; i < SHAPES; i++) {
        dcoll_args_t args = {.collective = DCOLL_ALLGATHER, .bytes = 64};
        assert_ptr_equal(
            dcoll_table_select(&table, rows[0].engine, &shapes[i], &args),
            rows[1].algorithm);
    }
}

/* A single rank of a node would do all of its part of slices. */
static void test_slices(void **state)
{
    static const unsigned even[] = {0, 8, 16, 24}, uneven[] = {0, 8, 16, 17};
    const dcoll_shape_t alike = {24, 3, even, 2}, other = {17, 3, uneven, 2};
    const dcoll_table_t none = {0};
    for (unsigned i = 0; i < 2; i++) {
        dcoll_args_t args = {.collective = i ? DCOLL_REDUCE : DCOLL_ALLREDUCE,
                             .bytes = 1u << 20,
                             .element = 8};
        const dcoll_algorithm_t *slices =
            dcoll_algorithm_find(args.collective, "smp-slices");
        assert_ptr_equal(dcoll_table_select(&none, 0, &alike, &args), slices);
        assert_ptr_not_equal(dcoll_table_select(&none, 0, &other, &args),
                             slices);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_most_of_a_node),
        cmocka_unit_test(test_row_of_a_table),
        cmocka_unit_test(test_slices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
