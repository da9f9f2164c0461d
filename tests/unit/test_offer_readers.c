/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All ranks have long parts for one rank only: a rank that has none for a peer
 * does not wait until that peer has read.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/smp/node.h"
#include "traffic.h"

enum { RANKS = 5, ELEMENT = 16 };

static unsigned done_signal(const dcoll_schedule_t *s)
{
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].kind == DCOLL_SIGNAL && s->ops[i].flag == NODE_DONE)
            return i;
    fail_msg("it does not say that it has read");
    return 0;
}

static bool reads(const struct traffic *t, unsigned rank)
{
    uint64_t sum = 0;
    for (unsigned from = 0; from < RANKS; from++)
        sum += from != rank ? t->counts[from * RANKS + rank] : 0;
    return sum > 0;
}

/* Is it good if that rank does not tell that it has read? */
static bool good_untold(dcoll_program_t *program, unsigned rank)
{
    char why[512];
    dcoll_op_t *op =
        &program->rank[rank].ops[done_signal(&program->rank[rank])];
    const dcoll_op_t told = *op;
    *op = (dcoll_op_t){.kind = DCOLL_COMPLETE};
    int rc = dcoll_verify(program, 3, why, sizeof why);
    *op = told;
    return !rc;
}

static void test_readers(void **state)
{
    unsigned node[RANKS + 1], readers = 0;
    const dcoll_shape_t shape = {RANKS, dcoll_shape_nodes(RANKS, RANKS, node),
                                 node, 1};
    struct traffic t = traffic_make(RANKS, TRAFFIC_TO_ONE, 3, 1);
    dcoll_traffic_t bounds = traffic_bounds(&t, ELEMENT);
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &bounds};
    dcoll_program_t program;
    bounds.pulled = 1;
    assert_int_equal(
        dcoll_program_make(&alltoallv_shm, &shape, &args, &program), 0);
    program.counts = t.counts;
    for (unsigned rank = 0; rank < RANKS; rank++) {
        readers += reads(&t, rank);
        assert_int_equal(good_untold(&program, rank), !reads(&t, rank));
    }
    assert_int_equal(readers, 1);
    dcoll_program_free(&program);
    traffic_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_readers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
