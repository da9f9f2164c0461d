/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/run/prepare/partners.c: finds the ranks with which a schedule exchanges
 * messages, among few and among all.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/run/prepare/partners.h"

#define RANKS 100u

static unsigned nodes[RANKS + 1];

/* By looking at each operation; counts those that are found. */
static unsigned talks(const dcoll_schedule_t *s, unsigned peer)
{
    for (unsigned i = 0; i < s->nops; i++)
        if (s->ops[i].peer == peer &&
            (s->ops[i].kind == DCOLL_PUT || s->ops[i].kind == DCOLL_NOTIFY ||
             s->ops[i].kind == DCOLL_WAIT))
            return 1;
    return 0;
}

static void check(const dcoll_algorithm_t *algorithm, unsigned rank,
                  unsigned most)
{
    const dcoll_shape_t shape = {RANKS, dcoll_shape_nodes(RANKS, 1, nodes),
                                 nodes, 1};
    const dcoll_args_t args = {
        .collective = algorithm->collective, .bytes = 8, .depth = 2};
    dcoll_schedule_t s = {0};
    struct partners p = {0};
    unsigned count = 0;
    assert_null(partner_of(&p, 1)); /* before they are known */
    dcoll_generate(algorithm, &shape, &args, rank, &s);
    assert_int_equal(partners_find(&p, &s, RANKS, rank), 0);
    for (unsigned peer = 0; peer < RANKS; peer++) {
        const struct partner *partner = partner_of(&p, peer);
        assert_int_equal(partner != NULL, talks(&s, peer));
        assert_true(!partner || partner->rank == peer);
        count += partner != NULL;
    }
    assert_int_equal(count, p.count);
    assert_in_range(count, 1, most);
    partners_free(&p);
    dcoll_schedule_free(&s);
}

static void test_few(void **state)
{
    for (unsigned rank = 0; rank < RANKS; rank++)
        check(&allgather_bruck, rank, 14); /* 7 steps, to and from */
}

static void test_all_others(void **state)
{
    for (unsigned rank = 0; rank < RANKS; rank++)
        check(&allgather_direct, rank, RANKS - 1);
}

static void test_root(void **state)
{
    check(&gather_direct, 0, RANKS - 1);
    check(&gather_direct, RANKS - 1, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few),
        cmocka_unit_test(test_all_others),
        cmocka_unit_test(test_root),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
