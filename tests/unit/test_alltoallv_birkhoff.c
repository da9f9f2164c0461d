/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all `birkhoff`: the stages are one-to-one, have all
 * elements, and are as long as the largest sum of a row or column. Schedules
 * are verified for N up to 128, up to 4 ports and nodes of several sizes. A
 * rank has permitted at most two stages that it has not received.
 */
#include <stdlib.h>

#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/irregular/decompose.h"
#include "irregular_verify.h"

#ifdef DRAIL_SANITIZE
enum { RANKS = 40, STEP = 3, NODES = 40 };
#else
enum { RANKS = 128, STEP = 1, NODES = 128 };
#endif

/* The largest sum of a row or column, without the diagonal. */
static uint64_t largest_sum(const struct traffic *t)
{
    uint64_t most = 0;
    for (unsigned i = 0; i < t->n; i++) {
        uint64_t row = 0, column = 0;
        for (unsigned j = 0; j < t->n; j++) {
            row += i == j ? 0 : t->counts[(size_t)i * t->n + j];
            column += i == j ? 0 : t->counts[(size_t)j * t->n + i];
        }
        most = row > most ? row : most;
        most = column > most ? column : most;
    }
    return most;
}

/* Takes a stage away from what is left. */
static void play_stage(const struct decomposition *d, unsigned stage,
                       uint64_t *left)
{
    bool receives[NODES] = {false};
    for (unsigned i = 0; i < d->nodes; i++) {
        const unsigned to = decompose_target(d, stage, i);
        assert_true(to < d->nodes && !receives[to]);
        assert_int_equal(decompose_sender(d, stage, to), i);
        receives[to] = true;
        uint64_t *entry = &left[(size_t)i * d->nodes + to];
        *entry -= *entry < d->length[stage] ? *entry : d->length[stage];
    }
}

/* exact: lengths are not rounded. */
static void check_decomposition(struct traffic *t, uint64_t least, bool exact)
{
    const uint64_t n = t->n, sum = largest_sum(t);
    struct decomposition d;
    uint64_t length = 0;
    assert_true(decompose(t->n, t->counts, least, &d));
    for (unsigned s = 0; s < d.stages; s++) {
        play_stage(&d, s, t->counts);
        length += d.length[s];
    }
    for (size_t i = 0; i < n * n; i++)
        assert_true(i % (n + 1) == 0 || !t->counts[i]);
    assert_true(d.stages <= n * n - 2 * n + 2);
    assert_true(d.stages <= (DECOMPOSE_QUANTA + 1) * n);
    if (exact)
        assert_int_equal(length, sum);
    else
        assert_true(length <= sum + sum / DECOMPOSE_QUANTA + (least + 2) * n);
    decompose_free(&d);
}

static void test_decomposition(void **state)
{
    for (unsigned n = 2; n <= NODES; n += n < 12 ? 1 : 7)
        for (unsigned p = 0; p < TRAFFIC_PATTERNS; p++)
            for (uint64_t most = 1; most <= 1000000; most *= 100) {
                struct traffic t = traffic_make(n, p, most, n);
                const uint64_t least = p % 2 ? 50 : 1;
                check_decomposition(&t, least,
                                    least == 1 &&
                                        largest_sum(&t) <=
                                            (uint64_t)DECOMPOSE_QUANTA * n);
                traffic_free(&t);
            }
}

static void verify(const dcoll_shape_t *shape, unsigned pattern, uint64_t most)
{
    struct traffic t =
        traffic_make(shape->nranks, pattern, most, shape->nranks);
    irregular_verify(&alltoallv_birkhoff, shape, &t, TRAFFIC_LONG, SIZE_MAX);
    traffic_free(&t);
}

/* Every traffic, number of ports and size of nodes of few ranks; then these in
 * turn. */
static void test_verified(void **state)
{
    static const unsigned ppn[] = {1, 2, 3, 8};
    unsigned node[RANKS + 1];
    for (unsigned n = 2; n <= RANKS; n += n < 10 ? 1 : STEP)
        for (unsigned i = 0; i < 4; i++)
            for (unsigned k = 1; k <= 4; k++)
                for (unsigned p = 0; p < TRAFFIC_PATTERNS; p++) {
                    const bool all = n < 10;
                    const dcoll_shape_t shape = {
                        n, dcoll_shape_nodes(n, ppn[i], node), node, k};
                    if (all || ((n + i) % 4 + 1 == k &&
                                (n < 24 || p == TRAFFIC_SPARSE)))
                        verify(&shape, p, all ? 40 : 3);
                }
}

static void test_uneven(void **state)
{
    static const unsigned node[][6] = {
        {0, 1, 4, 5, 7, 12}, {0, 5, 6, 9, 11, 12}, {0, 2, 8, 10, 15, 19}};
    for (unsigned i = 0; i < sizeof node / sizeof *node; i++)
        for (unsigned k = 1; k <= 4; k++)
            for (unsigned p = 0; p < TRAFFIC_PATTERNS; p++)
                verify(&(dcoll_shape_t){node[i][5], 5, node[i], k}, p, 9);
}

/* ---------------------------------------------------------- the program --- */

static void make(dcoll_program_t *p, const dcoll_shape_t *shape,
                 const dcoll_args_t *args)
{
    assert_int_equal(dcoll_program_make(&alltoallv_birkhoff, shape, args, p),
                     0);
}

/* Of one size for each pair: as many steps as a direct exchange with nodes. */
static void test_steps(void **state)
{
    unsigned node[RANKS + 1];
    for (unsigned n = 8; n <= 40; n += 4)
        for (unsigned ppn = 1; ppn <= 4; ppn *= 2) {
            const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, ppn, node),
                                         node, 1};
            struct traffic t = traffic_make(n, TRAFFIC_EQUAL, 5, n);
            dcoll_traffic_t bounds = traffic_bounds(&t, TRAFFIC_LONG);
            const dcoll_args_t args = {
                .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &bounds};
            dcoll_program_t p;
            unsigned steps = 0, puts = 0;
            make(&p, &shape, &args);
            for (unsigned i = 0; i < p.rank[0].nops; i++) {
                const dcoll_op_t *op = &p.rank[0].ops[i];
                if (op->kind != DCOLL_PUT)
                    continue;
                puts++;
                steps = op->step + 1u > steps ? op->step + 1u : steps;
            }
            assert_int_equal(puts, n - 1);
            assert_int_equal(steps, n - 1);
            dcoll_program_free(&p);
            traffic_free(&t);
        }
}

/* Senders that the rank has permitted and not heard of, in the order of its
 * operations. */
static void check_permissions(const dcoll_schedule_t *s)
{
    unsigned open = 0, of[8] = {0}, most = 0;
    for (unsigned i = 0; i < s->nops; i++) {
        const dcoll_op_t *op = &s->ops[i];
        const bool permits = op->kind == DCOLL_NOTIFY;
        const bool data = op->kind == DCOLL_WAIT && op->tag == DCOLL_DATA;
        open += permits ? !of[op->peer]++ : 0;
        open -= data ? !--of[op->peer] : 0;
        most = open > most ? open : most;
    }
    assert_int_equal(open, 0);
    assert_true(most <= 2);
}

/* Of nodes of one rank, all to all: never are more than two senders permitted.
 */
static void test_paced(void **state)
{
    static const unsigned node[] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    const dcoll_shape_t shape = {8, 8, node, 1};
    for (unsigned p = 1; p < TRAFFIC_PATTERNS; p++) {
        struct traffic t = traffic_make(8, p, 50, 8);
        dcoll_traffic_t bounds = traffic_bounds(&t, TRAFFIC_LONG);
        const dcoll_args_t args = {
            .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &bounds};
        dcoll_program_t program;
        make(&program, &shape, &args);
        for (unsigned r = 0; r < 8; r++)
            check_permissions(&program.rank[r]);
        dcoll_program_free(&program);
        traffic_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_decomposition), cmocka_unit_test(test_verified),
        cmocka_unit_test(test_uneven),        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_paced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
