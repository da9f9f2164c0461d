/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bruck's all-to-all between nodes is for short blocks, where each message
 * costs: of the radices with the fewest steps it takes the one with the fewest
 * messages.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"

enum { PPN = 2, MOST_NODES = 27 };

struct counts { /* of a node */
    unsigned puts, steps;
};

static struct counts count(unsigned nodes, unsigned ports)
{
    unsigned begin[MOST_NODES + 1];
    struct counts counts = {0, 0};
    dcoll_shape_nodes(nodes * PPN, PPN, begin);
    const dcoll_shape_t shape = {nodes * PPN, nodes, begin, ports};
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALL, .bytes = 8, .depth = 2};
    for (unsigned r = 0; r < PPN; r++) {
        dcoll_schedule_t s = {0};
        alltoall_smp_bruck.generate(&shape, &args, r, &s);
        for (unsigned i = 0; i < s.nops; i++) {
            if (s.ops[i].kind != DCOLL_PUT)
                continue;
            counts.puts++;
            if (s.ops[i].step >= counts.steps)
                counts.steps = s.ops[i].step + 1u;
        }
        dcoll_schedule_free(&s);
    }
    return counts;
}

static void assert_counts(unsigned nodes, unsigned ports, unsigned puts,
                          unsigned steps)
{
    const struct counts counts = count(nodes, ports);
    assert_int_equal(counts.puts, puts);
    assert_int_equal(counts.steps, steps);
}

static void test_as_few_steps_by_fewer_messages(void **state)
{
    assert_counts(4, 1, 2, 2);
    assert_counts(4, 2, 2, 2);  /* not 3: two steps with one port, too */
    assert_counts(16, 4, 6, 2); /* to the base 4, not 5 */
}

static void test_all_ports_where_steps_are_fewer(void **state)
{
    assert_counts(4, 3, 3, 1);
    assert_counts(9, 2, 4, 2);
    assert_counts(27, 2, 6, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_few_steps_by_fewer_messages),
        cmocka_unit_test(test_all_ports_where_steps_are_fewer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
