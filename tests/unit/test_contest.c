/* SPDX-License-Identifier: BSD-3-Clause */
/* Which algorithm a blocking call takes while `auto` learns, and afterwards. */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/select/contest.h"

#define BYTES 64

static const unsigned first[] = {0, 2, 4, 6, 8};
static const dcoll_shape_t shape = {8, 4, first, 1};
static const unsigned one_first[] = {0, 4};
static const dcoll_shape_t one_node = {4, 1, one_first, 1};
static struct contests contests;

static dcoll_args_t allgather(size_t bytes)
{
    return (dcoll_args_t){
        .collective = DCOLL_ALLGATHER, .bytes = bytes, .depth = 2};
}

/* A call that the rules would make by smp-bruck. */
static const dcoll_algorithm_t *next(dcoll_args_t args, bool *timed)
{
    const dcoll_algorithm_t *a = &allgather_smp_bruck;
    struct contest *c = contest_of(&contests, &shape, &args);
    args.zero_copy = true;
    *timed = contest_next(c, &shape, &args, &a);
    assert_int_equal(args.zero_copy, a == &allgather_smp_bruck);
    return a;
}

static void untimed(size_t bytes, const dcoll_algorithm_t *expected)
{
    bool timed;
    assert_ptr_equal(next(allgather(bytes), &timed), expected);
    assert_false(timed);
}

static struct contest *start_again(void)
{
    const dcoll_args_t args = allgather(BYTES);
    memset(&contests, 0, sizeof contests);
    return contest_of(&contests, &shape, &args);
}

static void before(size_t bytes)
{
    for (unsigned i = 0; i < CONTEST_AFTER; i++)
        untimed(bytes, &allgather_smp_bruck);
}

/* The algorithm that makes call `i` of a contest. */
static const dcoll_algorithm_t *in_turn(unsigned i)
{
    static const dcoll_algorithm_t *const all[] = {&allgather_smp_bruck,
                                                   &allgather_smp_direct,
                                                   &allgather_smp_gather_bcast};
    return all[i / CONTEST_ROUND % 3];
}

/* All calls of a contest, in which smp-direct takes so much longer than the
 * others. The first call of a turn takes very long. */
static void hold(struct contest *c, double direct)
{
    const unsigned all = CONTEST_ROUNDS * CONTEST_ROUND * 3;
    for (unsigned i = 0; i < all; i++) {
        bool timed;
        const dcoll_algorithm_t *a = next(allgather(BYTES), &timed);
        double took = i % CONTEST_ROUND ? 1e-4 * (1 + 0.01 * (i % 3)) : 1;
        assert_true(timed);
        assert_ptr_equal(a, in_turn(i));
        if (a == &allgather_smp_direct)
            took *= direct;
        assert_int_equal(contest_record(c, took), i == all - 1);
        untimed(BYTES + 1, &allgather_smp_bruck); /* of the same class */
    }
    contest_decide(c, c->seconds);
}

static void test_faster(void **state)
{
    struct contest *c = start_again();
    before(BYTES);
    hold(c, 0.8);
    untimed(BYTES, &allgather_smp_direct);
    untimed(2 * BYTES - 1, &allgather_smp_direct);
    untimed(2 * BYTES, &allgather_smp_bruck);
}

/* A little faster, or slower: the rules' algorithm stays. */
static void test_not_faster(void **state)
{
    static const double ratios[] = {0.93, 1, 3};
    for (unsigned i = 0; i < 3; i++) {
        struct contest *c = start_again();
        before(BYTES);
        hold(c, ratios[i]);
        untimed(BYTES, &allgather_smp_bruck);
    }
}

/* Faster, but not in the second round. */
static void test_not_always_faster(void **state)
{
    const unsigned counted = CONTEST_ROUND - 1;
    struct contest *c = start_again();
    before(BYTES);
    hold(c, 0.5);
    c->over = false;
    c->winner = NULL;
    for (unsigned i = 0; i < counted; i++) /* of smp-direct */
        c->seconds[CONTEST_ROUNDS * counted + counted + i] *= 1.9;
    contest_decide(c, c->seconds);
    untimed(BYTES, &allgather_smp_bruck);
}

/* All ranks decide by the same times: those of the slowest. */
static void test_agreed(void **state)
{
    double slowest[CONTEST_TIMES];
    struct contest *c = start_again();
    before(BYTES);
    hold(c, 0.8);
    c->over = false;
    c->winner = NULL;
    memcpy(slowest, c->seconds, sizeof slowest);
    for (unsigned i = 0; i < CONTEST_TIMES; i++)
        if (slowest[i] < 1e-4)
            slowest[i] = 1e-3;
    contest_decide(c, slowest);
    untimed(BYTES, &allgather_smp_bruck);
}

/* Not before one size prevails; that size is then compared. */
static void test_sizes(void **state)
{
    struct contest *c = start_again();
    for (unsigned i = 0; i < 5 * CONTEST_AFTER; i++)
        untimed(BYTES + i % 2, &allgather_smp_bruck);
    assert_int_equal(c->count, 0);
    for (unsigned i = 0; !c->count && i < 2 * CONTEST_AFTER; i++) {
        bool timed;
        next(allgather(BYTES + 2), &timed);
    }
    assert_int_equal(c->count, 3);
    assert_int_equal(c->args.bytes, BYTES + 2);
}

/* The program goes on to calls of another size: these get a contest. */
static void test_left(void **state)
{
    struct contest *c = start_again();
    bool timed;
    before(BYTES);
    next(allgather(BYTES), &timed);
    assert_true(timed);
    before(BYTES + 1);
    assert_int_equal(c->count, 3);
    before(BYTES + 1);
    assert_int_equal(c->count, 0);
    next(allgather(BYTES + 1), &timed);
    assert_true(timed);
    assert_int_equal(c->args.bytes, BYTES + 1);
}

static void test_open(void **state)
{
    const dcoll_args_t args = allgather(BYTES), other = allgather(BYTES + 1);
    struct contest *c = start_again();
    bool timed;
    assert_true(contest_is_open(c, &shape, &args));
    before(BYTES);
    next(args, &timed);
    assert_true(contest_is_open(c, &shape, &args));
    assert_false(contest_is_open(c, &shape, &other));
    contest_abandon(c);
    assert_false(contest_is_open(c, &shape, &args));
    untimed(BYTES, &allgather_smp_bruck);
}

/* Sums that round must not depend on times. */
static void test_never(void **state)
{
    static const dcoll_collective_t never[] = {
        DCOLL_REDUCE, DCOLL_ALLREDUCE, DCOLL_SCAN, DCOLL_REDUCE_SCATTER_BLOCK,
        DCOLL_BARRIER};
    for (unsigned i = 0; i < sizeof never / sizeof *never; i++) {
        dcoll_args_t args = allgather(BYTES);
        args.collective = never[i];
        assert_null(contest_of(&contests, &shape, &args));
    }
    dcoll_args_t unequal = allgather(BYTES);
    unequal.begin = &(size_t){0};
    assert_null(contest_of(&contests, &shape, &unequal));
    const dcoll_args_t huge = allgather((size_t)1 << CONTEST_SIZES);
    assert_null(contest_of(&contests, &shape, &huge));
}

/* Within a node: reading instead of copying, from 64 KiB on, and also for
 * unequal blocks. Where the rules read already, there is nothing to compare. */
static void test_within_node(void **state)
{
    const size_t begin[] = {0, 100000, 262142, 262143, 262144};
    dcoll_args_t args = allgather(65535);
    size_t less[5];
    memcpy(less, begin, sizeof less);
    less[4]--;
    assert_null(contest_of(&contests, &one_node, &args));
    args.bytes = 162142;
    args.begin = less;
    assert_null(contest_of(&contests, &one_node, &args));
    args.begin = begin;
    memset(&contests, 0, sizeof contests);
    struct contest *c = contest_of(&contests, &one_node, &args);
    const dcoll_algorithm_t *a = NULL;
    for (unsigned i = 0; i <= CONTEST_AFTER; i++) {
        a = &allgather_shm;
        assert_int_equal(contest_next(c, &one_node, &args, &a),
                         i == CONTEST_AFTER);
    }
    assert_ptr_equal(a, &allgather_shm);
    assert_int_equal(c->count, 2);
    assert_ptr_equal(c->contenders[1], &allgather_pull);
    *c = (struct contest){0};
    for (unsigned i = 0; i <= CONTEST_AFTER; i++) {
        a = &allgather_pull;
        assert_false(contest_next(c, &one_node, &args, &a));
    }
    assert_true(c->over);
    args.collective = DCOLL_BCAST;
    args.begin = NULL;
    assert_null(contest_of(&contests, &one_node, &args));
}

/* Calls whose blocks together are longer take longer, also if the longest block
 * is the same: they do not count. */
static void test_unequal(void **state)
{
    const size_t some[] = {0, 200000, 230000, 260000, 300000};
    const size_t more[] = {0, 200000, 400000, 600000, 800000};
    const dcoll_algorithm_t *a = &allgather_shm;
    dcoll_args_t args = allgather(200000);
    args.begin = some;
    memset(&contests, 0, sizeof contests);
    struct contest *c = contest_of(&contests, &one_node, &args);
    for (unsigned i = 0; i < 4 * CONTEST_AFTER; i++) {
        args.begin = i % 2 ? more : some;
        assert_false(contest_next(c, &one_node, &args, &a));
    }
    args.begin = some;
    for (unsigned i = 0; i <= CONTEST_AFTER; i++)
        assert_int_equal(contest_next(c, &one_node, &args, &a),
                         i == CONTEST_AFTER);
    a = &allgather_shm;
    args.begin = more;
    assert_false(contest_next(c, &one_node, &args, &a));
    assert_false(contest_is_open(c, &one_node, &args));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faster),
        cmocka_unit_test(test_not_faster),
        cmocka_unit_test(test_not_always_faster),
        cmocka_unit_test(test_agreed),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_left),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_never),
        cmocka_unit_test(test_within_node),
        cmocka_unit_test(test_unequal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
