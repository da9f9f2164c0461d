/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Elements dealt to buckets at once go where they go one by one, and no bucket
 * gets much more than its share (Liu et al. 2002, section 3.2.2 C).
 */
#include "unit.h"
#include "coll/build/irregular/deal.h"
#include "coll/build/irregular/mesh.h"

enum { FANS = 12, COUNTS = 250, RANKS = 128 };

/* All counts from one value of the counter on. */
static void count_from(const dcoll_deal_t *deal, uint64_t counter,
                       unsigned counts)
{
    uint64_t got[FANS] = {0};
    for (uint64_t n = 0; n <= counts; n++) {
        uint64_t sum = 0;
        for (unsigned b = 0; b < deal->fan; b++) {
            uint64_t share = deal_share(deal, counter, n, b);
            assert_int_equal(share, got[b]);
            sum += share;
        }
        assert_int_equal(sum, n);
        got[deal_next(deal, counter + n)]++;
    }
}

static void test_one_by_one(void **state)
{
    static const unsigned more[] = {0, 1, 2, 5, 11, 29};
    for (unsigned fan = 1; fan <= FANS; fan++)
        for (unsigned i = 0; i < sizeof more / sizeof *more; i++) {
            dcoll_deal_t deal = {.fan = fan, .period = fan + more[i]};
            for (unsigned c = 0; c <= 2 * deal.period; c += 1 + c / fan)
                count_from(&deal, c, COUNTS);
        }
}

/* Counts and counters that do not fit into 32 bits. */
static void test_many(void **state)
{
    const dcoll_deal_t deal = {.fan = 5, .period = 18};
    const uint64_t turns = (uint64_t)1 << 40, counter = 18 * turns + 3;
    count_from(&deal, counter, 40);
    for (unsigned b = 0; b < deal.fan; b++)
        assert_int_equal(deal_share(&deal, counter, 18 * turns, b),
                         deal_share(&deal, 0, 18, b) * turns);
}

/* Of the counter's values in a turn: those of the bucket. */
static double part_of(const dcoll_deal_t *deal, unsigned bucket)
{
    return (double)deal_share(deal, 0, deal->period, bucket) / deal->period;
}

/* The most that a bucket gets beyond this part of the elements. */
static double excess_of(const dcoll_deal_t *deal, unsigned dst, unsigned bucket,
                        double part)
{
    double most = 0;
    for (unsigned n = 1; n <= 2 * deal->period; n++) {
        uint64_t share = deal_share(deal, deal_begin(deal, dst), n, bucket);
        double excess = (double)share - part * n;
        most = excess > most ? excess : most;
    }
    return most;
}

/* As the stages deal: the first buckets of a turn that is not whole get one
 * more of it than the others. */
static void check_excess(const dcoll_deal_t *deal)
{
    const double first = part_of(deal, 0);
    for (unsigned dst = 0; dst < deal->fan; dst++)
        for (unsigned b = 0; b < deal->fan; b++) {
            double part = part_of(deal, b);
            assert_true(excess_of(deal, dst, b, first) < DEAL_EXCESS_FIRST);
            assert_true(excess_of(deal, dst, b, part) < DEAL_EXCESS);
        }
}

static void test_excess(void **state)
{
    for (unsigned n = 1; n <= RANKS; n++) {
        struct mesh m = mesh_of(n);
        check_excess(&(dcoll_deal_t){.fan = m.columns, .period = n});
        check_excess(&(dcoll_deal_t){.fan = m.rows, .period = m.rows});
    }
    check_excess(&(dcoll_deal_t){.fan = 61, .period = 61});
}

/* Each element has a bucket, and the initial counters differ between those
 * for ranks that follow each other. */
static void test_collect(void **state)
{
    for (unsigned n = 1; n <= RANKS; n++) {
        struct mesh m = mesh_of(n);
        dcoll_deal_t column = {.fan = m.columns, .divisor = 1};
        for (unsigned dst = 0; dst < n; dst++) {
            unsigned c = mesh_column(&m, dst);
            dcoll_deal_t row = {.fan = mesh_height(&m, c),
                                .divisor = m.columns};
            assert_int_equal(deal_bucket(&column, dst), c);
            assert_int_equal(deal_bucket(&row, dst), mesh_row(&m, dst));
            assert_int_equal(deal_begin(&column, dst), c);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_by_one),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_excess),
        cmocka_unit_test(test_collect),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
