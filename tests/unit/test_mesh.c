/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The array of ranks and its exchanges (Liu et al. 2002, section 3.2): for any
 * number of ranks each message is sent once, and no rank receives two in a
 * step; figures 9 and 10; lemma 1.
 */
#include "unit.h"
#include "coll/build/irregular/mesh.h"

enum { RANKS = 128 };

static unsigned ceil_root(unsigned n)
{
    unsigned root = 0;
    while (root * root < n)
        root++;
    return root;
}

static void test_array(void **state)
{
    for (unsigned n = 1; n <= 4096; n++) {
        struct mesh m = mesh_of(n);
        unsigned ranks = 0;
        for (unsigned c = 0; c < m.columns; c++)
            ranks += mesh_height(&m, c);
        assert_int_equal(ranks, n);
        /* each rank of the incomplete row has a row for what goes to pseudo-
         * nodes */
        assert_true(m.rest == 0 || m.rest <= m.rows - 1);
        assert_true(m.rows <= ceil_root(n) && m.columns <= ceil_root(n));
        assert_int_equal(mesh_is_square(&m), ceil_root(n) * ceil_root(n) == n);
    }
    struct mesh rearranged = mesh_of(11);
    assert_int_equal(rearranged.columns, 3);
    assert_int_equal(rearranged.rows, 4);
}

/* Blocks that have come to a rank, by sender, and in this step. */
struct heard {
    unsigned from[RANKS], step;
};

static struct heard heard[RANKS];

static void send_step(const struct exchange *x, const struct mesh *m,
                      unsigned rank, unsigned step)
{
    unsigned bucket, target, sender, place;
    if (step > x->steps(m, rank) || !x->bucket(m, rank, step, &bucket))
        return;
    assert_true(bucket < x->buckets(m, rank));
    target = x->target(m, rank, bucket);
    assert_true(target < m->ranks);
    assert_int_not_equal(heard[target].step, step);
    heard[target].step = step;
    heard[target].from[rank]++;
    assert_true(exchange_sender(x, m, target, step, &sender, &place));
    assert_int_equal(sender, rank);
    assert_int_equal(exchange_place(x, m, target, rank), place);
}

/* Each rank sends each bucket once, and nobody receives two in a step. */
static void exchange(const struct exchange *x, unsigned n)
{
    struct mesh m = mesh_of(n);
    memset(heard, 0, sizeof heard);
    for (unsigned step = 1; step <= n + 1; step++)
        for (unsigned rank = 0; rank < n; rank++)
            send_step(x, &m, rank, step);
    for (unsigned rank = 0; rank < n; rank++) {
        unsigned senders = 0, source;
        for (unsigned from = 0; from < n; from++) {
            assert_true(heard[rank].from[from] <= 1);
            senders += heard[rank].from[from];
        }
        assert_int_equal(senders, exchange_sources(x, &m, rank));
        for (unsigned i = 0; x->source(&m, rank, i, &source); i++)
            assert_int_equal(heard[rank].from[source], 1);
        for (unsigned b = 0; b < x->buckets(&m, rank); b++)
            assert_int_equal(heard[x->target(&m, rank, b)].from[rank], 1);
    }
}

static void test_exchanges(void **state)
{
    for (unsigned n = 1; n <= RANKS; n++) {
        exchange(&exchange_all, n);
        exchange(&exchange_rows, n);
        exchange(&exchange_columns, n);
    }
}

/* Messages that a rank receives in a stage. */
static void test_lemma_1(void **state)
{
    for (unsigned n = 1; n <= RANKS; n++) {
        struct mesh m = mesh_of(n);
        unsigned root = ceil_root(n), additional = 0;
        for (unsigned rank = 0; rank < n; rank++) {
            bool incomplete = m.rest && mesh_column(&m, rank) >= m.rest;
            unsigned rows = exchange_sources(&exchange_rows, &m, rank);
            unsigned columns = exchange_sources(&exchange_columns, &m, rank);
            assert_true(rows <= root + incomplete);
            assert_true(columns <= root - incomplete);
            additional += rows > m.columns;
        }
        assert_int_equal(additional, m.rest * (m.columns - m.rest));
    }
}

/* P = 61, third row: column 8 is the sender 58. 0: nothing. */
static const unsigned figure_9[8][9] = {
    {17, 18, 19, 20, 21, 22, 23, 16, 59}, {18, 19, 20, 21, 22, 23, 16, 17, 60},
    {19, 20, 21, 22, 23, 16, 17, 18, 21}, {20, 21, 22, 23, 16, 17, 18, 19, 22},
    {21, 22, 23, 16, 17, 18, 19, 20, 23}, {22, 23, 16, 17, 18, 19, 20, 21, 56},
    {23, 16, 17, 18, 19, 20, 21, 22, 57}, {16, 17, 18, 19, 20, 21, 22, 23, 58}};
static const unsigned figure_10[9][9] = {
    {17, 18, 19, 20, 21, 22, 23, 16, 59}, {18, 19, 20, 21, 22, 23, 16, 17, 60},
    {19, 20, 0, 22, 23, 16, 17, 18, 21},  {20, 0, 21, 23, 16, 17, 18, 19, 22},
    {0, 21, 22, 16, 17, 18, 19, 20, 23},  {21, 22, 23, 17, 18, 19, 20, 0, 56},
    {22, 23, 16, 18, 19, 20, 0, 21, 57},  {23, 16, 17, 19, 20, 0, 21, 22, 58},
    {16, 17, 18, 0, 0, 21, 22, 23, 0}};

static unsigned sent(const struct mesh *m, unsigned rank, unsigned step)
{
    unsigned bucket;
    return step <= exchange_rows.steps(m, rank) &&
                   exchange_rows.bucket(m, rank, step, &bucket)
               ? exchange_rows.target(m, rank, bucket)
               : 0;
}

static void test_figure_10(void **state)
{
    struct mesh m = mesh_of(61);
    for (unsigned step = 1; step <= 9; step++)
        for (unsigned i = 0; i < 9; i++)
            assert_int_equal(sent(&m, i < 8 ? 16 + i : 58, step),
                             figure_10[step - 1][i]);
}

/* Without the stalls, which only delay: the same targets in the same order. */
static void test_figure_9(void **state)
{
    struct mesh m = mesh_of(61);
    for (unsigned i = 0; i < 9; i++) {
        unsigned rank = i < 8 ? 16 + i : 58, at = 0;
        for (unsigned step = 1; step <= 9; step++)
            if (sent(&m, rank, step))
                assert_int_equal(sent(&m, rank, step), figure_9[at++][i]);
        assert_int_equal(at, 8);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_array),     cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_lemma_1),   cmocka_unit_test(test_figure_9),
        cmocka_unit_test(test_figure_10),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
