/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithm that `auto` takes for given traffic matrices: the largest row
 * or column and the skew count, not the total.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/select/irregular.h"

enum { RANKS = 8, ELEMENT = 48 };

typedef uint64_t matrix[RANKS][RANKS];

static const unsigned one[] = {0, 8}, four[] = {0, 2, 4, 6, 8};

/* As ranks agree on it, but for what is rounded up. */
static dcoll_traffic_t traffic_of(const matrix m)
{
    dcoll_traffic_t t = {.element = ELEMENT, .labelled = true};
    for (unsigned i = 0; i < RANKS; i++) {
        uint64_t row = 0, column = 0;
        for (unsigned j = 0; j < RANKS; j++) {
            row += m[i][j];
            column += m[j][i];
            t.max_pair = m[i][j] > t.max_pair ? m[i][j] : t.max_pair;
        }
        uint64_t most = row > column ? row : column;
        t.max_rank = most > t.max_rank ? most : t.max_rank;
    }
    return t;
}

static const char *chosen(const unsigned *nodes, unsigned nnodes,
                          const matrix m, bool expected)
{
    const dcoll_shape_t shape = {RANKS, nnodes, nodes, 1};
    const dcoll_traffic_t traffic = traffic_of(m);
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &traffic};
    return irregular_select(&shape, &args, true, expected)->name;
}

static void everywhere(matrix m, uint64_t count)
{
    for (unsigned i = 0; i < RANKS; i++)
        for (unsigned j = 0; j < RANKS; j++)
            m[i][j] = count;
}

/* Of two with the same total, each rank of the one has little, and one rank of
 * the other gets all. */
static void test_largest_column(void **state)
{
    matrix even, to_one = {{0}};
    everywhere(even, 1000);
    for (unsigned i = 0; i < RANKS; i++)
        to_one[i][3] = RANKS * 1000;
    assert_string_equal(chosen(four, 4, even, true), "smp-alltoallv");
    assert_string_equal(chosen(four, 4, to_one, true), "direct");
    assert_string_equal(chosen(four, 4, to_one, false), "a1-n1");
}

static void test_largest_row(void **state)
{
    matrix from_one = {{0}};
    for (unsigned j = 0; j < RANKS; j++)
        from_one[3][j] = RANKS * 1000;
    assert_string_equal(chosen(four, 4, from_one, true), "direct");
}

/* Each of the two has a most of 400000 elements a rank. */
static void test_skew(void **state)
{
    matrix even, transpose = {{0}};
    everywhere(even, 50000);
    for (unsigned i = 0; i < RANKS; i++)
        transpose[i][RANKS - 1 - i] = 400000;
    assert_string_equal(chosen(four, 4, even, false), "a1-n1");
    assert_string_equal(chosen(four, 4, transpose, false), "a2-n1");
    assert_string_equal(chosen(four, 4, transpose, true), "direct");
}

/* Skewed, but so little that the rooms do not count. */
static void test_small_skew(void **state)
{
    matrix spike = {{0}};
    spike[2][5] = 11000;
    assert_string_equal(chosen(four, 4, spike, false), "a1-n1");
}

/* There, each part is copied or read as it is long. */
static void test_one_node(void **state)
{
    matrix even, spike = {{0}};
    everywhere(even, 1);
    spike[2][5] = 1 << 20;
    assert_string_equal(chosen(one, 1, even, true), "shm-alltoallv");
    assert_string_equal(chosen(one, 1, spike, true), "shm-alltoallv");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_largest_column),
        cmocka_unit_test(test_largest_row),
        cmocka_unit_test(test_skew),
        cmocka_unit_test(test_small_skew),
        cmocka_unit_test(test_one_node),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
