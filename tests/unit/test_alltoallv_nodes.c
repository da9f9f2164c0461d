/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The SMP-aware irregular all-to-all moves every element to its destination, on
 * nodes of any sizes, in one message from each node to each other node.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "irregular_verify.h"

#ifdef DRAIL_SANITIZE
enum { SMALL = 6, RANKS = 24, STEP = 3 };
#else
enum { SMALL = 9, RANKS = 64, STEP = 1 };
#endif

static void verify(const dcoll_shape_t *shape, unsigned pattern)
{
    unsigned n = shape->nranks;
    struct traffic t = traffic_make(n, pattern, 3 + n % 5, n);
    irregular_verify(&alltoallv_smp, shape, &t, IRREGULAR_ELEMENT,
                     (1 + n % 4) * IRREGULAR_ELEMENT);
    traffic_free(&t);
}

/* Every traffic on nodes of one size, but the last one. */
static void test_small(void **state)
{
    unsigned node[SMALL + 1];
    for (unsigned n = 2; n <= SMALL; n++)
        for (unsigned ppn = 1; ppn < n; ppn++)
            for (unsigned ports = 1; ports <= 3; ports++)
                for (unsigned p = 0; p < TRAFFIC_PATTERNS; p++)
                    verify(&(dcoll_shape_t){n, dcoll_shape_nodes(n, ppn, node),
                                            node, ports},
                           p);
}

/* Few large nodes, many small ones, and ranks of one node alone among them. */
static void test_all(void **state)
{
    unsigned node[RANKS + 1];
    for (unsigned n = 2; n <= RANKS; n += STEP)
        for (unsigned shape = 0; shape < 3; shape++) {
            unsigned ppn = shape == 0 ? 1 + n / 8 : 1 + (n + shape) % 5;
            verify(&(dcoll_shape_t){n, dcoll_shape_nodes(n, ppn, node), node,
                                    1 + n % 3},
                   (n + shape) % TRAFFIC_PATTERNS);
        }
}

static void test_uneven(void **state)
{
    static const unsigned node[][6] = {
        {0, 1, 4, 5, 7, 12}, {0, 5, 6, 9, 11, 12}, {0, 2, 8, 10, 15, 19}};
    for (unsigned i = 0; i < sizeof node / sizeof *node; i++)
        for (unsigned p = 0; p < TRAFFIC_PATTERNS; p++)
            verify(&(dcoll_shape_t){node[i][5], 5, node[i], 1 + p % 3}, p);
}

static bool on_one_node(const dcoll_shape_t *shape, unsigned a, unsigned b)
{
    return dcoll_shape_node(shape, a) == dcoll_shape_node(shape, b);
}

/* Of 5 nodes of 3 ranks: 20 messages, none within a node, no rank more than
 * one of these more than another. */
static void test_messages(void **state)
{
    static const unsigned node[] = {0, 3, 6, 9, 12, 15};
    const dcoll_shape_t shape = {15, 5, node, 1};
    const dcoll_traffic_t bounds = {
        .element = 1, .max_pair = 1, .max_rank = 15, .labelled = true};
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &bounds};
    dcoll_program_t program;
    unsigned messages = 0;
    assert_int_equal(
        dcoll_program_make(&alltoallv_smp, &shape, &args, &program), 0);
    for (unsigned r = 0; r < shape.nranks; r++) {
        unsigned mine = 0;
        for (unsigned i = 0; i < program.rank[r].nops; i++) {
            const dcoll_op_t *op = &program.rank[r].ops[i];
            if (op->kind != DCOLL_PUT)
                continue;
            assert_false(on_one_node(&shape, r, op->peer));
            mine++;
        }
        assert_in_range(mine, 1, 2);
        messages += mine;
    }
    assert_int_equal(messages, 20);
    dcoll_program_free(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_uneven),
        cmocka_unit_test(test_messages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
