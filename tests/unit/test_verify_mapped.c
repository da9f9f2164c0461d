/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * If rails map SEND, shorter parts stay there. Parts between the two thresholds
 * are read from SEND by some ranks of a start, and in some starts of a rank,
 * and are copied otherwise: one proof must contain all cases.
 */
#include "unit.h"
#include "coll/build/smp/node.h"
#include "irregular.h"

enum { RANKS = 4, ELEMENT = 16, MOST = 3 };

/* All parts have the same length. */
static void scene_open(struct irregular *s, size_t pulled)
{
    irregular_open(s, RANKS, RANKS, traffic_make(RANKS, TRAFFIC_EQUAL, MOST, 1),
                   ELEMENT);
    s->bounds.pulled = pulled;
    assert_true(irregular_make(s, &alltoallv_shm));
}

static dcoll_op_t *await_of(struct irregular *s, unsigned rank, unsigned peer,
                            unsigned flag)
{
    dcoll_schedule_t *all = &s->program.rank[rank];
    for (unsigned i = 0; i < all->nops; i++)
        if (all->ops[i].kind == DCOLL_AWAIT && all->ops[i].peer == peer &&
            all->ops[i].flag == flag)
            return &all->ops[i];
    fail_msg("rank %u does not await flag %u of rank %u", rank, flag, peer);
    return NULL;
}

/* Is it good with this in place of the operation? */
static bool good_with(struct irregular *s, dcoll_op_t *op, dcoll_op_t planted,
                      unsigned starts)
{
    char why[512];
    const dcoll_op_t before = *op;
    *op = planted;
    int rc = dcoll_verify(&s->program, starts, why, sizeof why);
    *op = before;
    return !rc;
}

/* The rank goes on before the peer has read from SEND: a race with the next
 * start if, and only if, something was pulled. */
static bool pulls(struct irregular *s, unsigned rank, unsigned peer,
                  unsigned starts)
{
    return !good_with(s, await_of(s, rank, peer, NODE_DONE),
                      (dcoll_op_t){.kind = DCOLL_COMPLETE}, starts);
}

/* The rank waits for the peer's table only where it has pulled something for
 * it: a race if, and only if, something was copied. */
static bool copies(struct irregular *s, unsigned rank, unsigned peer,
                   unsigned starts)
{
    dcoll_op_t *op = await_of(s, rank, peer, NODE_POSTED), hasty = *op;
    hasty.offered = true;
    return !good_with(s, op, hasty, starts);
}

static void expect_each(size_t pulled, bool pulling, bool copying)
{
    struct irregular s;
    scene_open(&s, pulled);
    unsigned starts = dcoll_proof_starts(&s.program);
    for (unsigned rank = 0; rank < RANKS; rank++)
        for (unsigned peer = 0; peer < RANKS; peer++)
            if (peer != rank) {
                assert_int_equal(pulls(&s, rank, peer, starts), pulling);
                assert_int_equal(copies(&s, rank, peer, starts), copying);
            }
    irregular_close(&s);
}

static void test_one_threshold(void **state)
{
    expect_each(1, true, false);
    expect_each(SIZE_MAX, false, true);
}

/* Parts are longer than a third of the threshold, and shorter than it. */
static void test_each_rank(void **state)
{
    expect_each((size_t)2 * MOST * ELEMENT, true, true);
}

/* In the first start. What it pulls races with the SEND of the second one. */
static void test_each_start(void **state)
{
    unsigned pulling = 0;
    struct irregular s;
    scene_open(&s, (size_t)2 * MOST * ELEMENT);
    for (unsigned rank = 0; rank < RANKS; rank++) {
        unsigned peer = (rank + 1) % RANKS;
        bool pulled = pulls(&s, rank, peer, 2);
        assert_int_equal(copies(&s, rank, peer, 1), !pulled);
        pulling += pulled;
    }
    assert_in_range(pulling, 1, RANKS - 1);
    irregular_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_threshold),
        cmocka_unit_test(test_each_rank),
        cmocka_unit_test(test_each_start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
