/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-reduce `shares`, for ranks with different numbers of ports: schedules for
 * N up to 128, 1 to 4 ports and nodes of 1, 2, 3 and 8 ranks are verified, and
 * wrong ones found. One with few ports: near the cut bound, where others need
 * up to twice as long.
 */
#include <math.h>
#include <time.h>

#include "faults.h"
#include "unit.h"
#include "bench/prove/bounds.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/reduce/shares.h"
#include "coll/select/table.h"

enum { RANKS_MAX = 128, PORTS_MAX = 4, ELEMENT = 8 << 10 };
/* Up to so many ranks, all numbers of ports and nodes are taken. */
enum { ALL_SHAPES = 12 };

static uint64_t state = 1;

static unsigned drawn(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

/* The shares have so many units of @p element on the average. */
static dcoll_args_t args_of(unsigned n, unsigned units, size_t element)
{
    return (dcoll_args_t){.collective = DCOLL_ALLREDUCE,
                          .bytes = n * units * element,
                          .element = element,
                          .in_place = drawn(2),
                          .zero_copy = drawn(2),
                          .depth = 1 + drawn(2)};
}

static void draw_ports(unsigned *begin, unsigned n, unsigned ports)
{
    begin[0] = 0;
    for (unsigned r = 0; r < n; r++)
        begin[r + 1] = begin[r] + 1 + drawn(ports);
}

static int verify(dcoll_program_t *p, char *why, size_t size)
{
    return dcoll_verify(p, dcoll_proof_starts(p), why, size);
}

static void check(unsigned n, unsigned ppn, unsigned ports)
{
    unsigned nodes[RANKS_MAX + 1], begin[RANKS_MAX + 1];
    const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, ppn, nodes), nodes,
                                 ports};
    char why[1024] = "";
    dcoll_program_t p;
    dcoll_args_t args = args_of(n, drawn(8), drawn(2) ? 8 : ELEMENT);
    draw_ports(begin, n, ports);
    args.port_begin = drawn(4) ? begin : NULL;
    assert_int_equal(dcoll_program_make(&allreduce_shares, &shape, &args, &p),
                     0);
    if (verify(&p, why, sizeof why))
        fail_msg("%u ranks, %u a node, %u ports, %zu bytes: %s", n, ppn, ports,
                 args.bytes, why);
    dcoll_program_free(&p);
}

static void test_verified(void **unused)
{
    static const unsigned of_node[] = {1, 2, 3, 8};
    for (unsigned n = 1; n <= ALL_SHAPES; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            for (unsigned i = 0; i < 4; i++)
                check(n, of_node[i], k);
    for (unsigned n = ALL_SHAPES + 1; n <= RANKS_MAX; n++)
        check(n, of_node[drawn(4)], 1 + drawn(PORTS_MAX));
}

/* Each operation is left out, or moved by an element. */
static void test_planted(void **unused)
{
    unsigned nodes[6], begin[] = {0, 1, 3, 5, 6, 8};
    const dcoll_shape_t shape = {5, dcoll_shape_nodes(5, 1, nodes), nodes, 2};
    for (unsigned variant = 0; variant < 4; variant++) {
        dcoll_args_t args = args_of(5, 6, ELEMENT);
        dcoll_program_t p;
        args.in_place = variant & 1;
        args.zero_copy = variant & 2;
        args.depth = 2;
        args.port_begin = begin;
        assert_int_equal(
            dcoll_program_make(&allreduce_shares, &shape, &args, &p), 0);
        faults_expect_all(&p, 5, ELEMENT, variant);
        dcoll_program_free(&p);
    }
}

static double blocks_of(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                        const dcoll_args_t *args)
{
    const dcoll_cost_model_t byte = {.tau = 1, .striped = true};
    dcoll_program_t p;
    dcoll_args_t with = *args;
    with.commutes = dcoll_needs_commuting(a, shape, args);
    assert_int_equal(dcoll_program_make(a, shape, &with, &p), 0);
    const double blocks = dcoll_cost(&p, &byte) / (double)args->bytes;
    dcoll_program_free(&p);
    return blocks;
}

/* The first rank has one port, the others two. */
static void test_near_the_bound(void **unused)
{
    for (unsigned n = 3; n <= 16; n++) {
        unsigned nodes[17], begin[18] = {0, 1};
        const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, 1, nodes), nodes,
                                     2};
        const dcoll_args_t args = {.collective = DCOLL_ALLREDUCE,
                                   .bytes = 16 << 20,
                                   .element = 8,
                                   .zero_copy = true,
                                   .port_begin = begin,
                                   .depth = 2};
        for (unsigned r = 1; r < n; r++)
            begin[r + 1] = begin[r] + 2;
        const double bound = bound_blocks(&args, &shape, false);
        const double ours = blocks_of(&allreduce_shares, &shape, &args);
        const double halving = blocks_of(&allreduce_halving, &shape, &args);
        const double direct = blocks_of(&allreduce_direct, &shape, &args);
        printf("%u ranks: bound %.3f, shares %.3f, halving %.3f, direct %.3f\n",
               n, bound, ours / bound, halving / bound, direct / bound);
        assert_true(bound >= 1 && ours >= bound * 0.9999);
        /* messages of other N wait more for the model's ports */
        assert_true(ours < (n <= 4 ? 1.15 : 1.55) * bound);
        assert_true(fmin(halving, direct) > 1.4 * ours);
    }
}

/* Long blocks of ranks with different numbers of ports. */
static void test_auto(void **unused)
{
    unsigned nodes[5], begin[] = {0, 1, 3, 5, 7}, equal[] = {0, 2, 4, 6, 8};
    const dcoll_shape_t shape = {4, dcoll_shape_nodes(4, 1, nodes), nodes, 2};
    for (unsigned i = 0; i < 6; i++) {
        dcoll_args_t args = {.collective = DCOLL_ALLREDUCE,
                             .bytes = i & 1 ? 1 << 20 : 1 << 16,
                             .element = 8,
                             .port_begin = i < 2   ? NULL
                                           : i < 4 ? begin
                                                   : equal,
                             .depth = 2};
        assert_ptr_equal(
            dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args),
            i == 3 ? &allreduce_shares : &allreduce_halving);
    }
}

/* Steps of the largest job fit in a schedule. */
static void test_most_ranks(void **unused)
{
    const unsigned n = DRAIL_MAX_RANKS;
    unsigned *nodes = calloc(n + 1u, sizeof *nodes);
    const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, 1, nodes), nodes, 1};
    const dcoll_args_t args = {DCOLL_ALLREDUCE, .bytes = 64u * n, .depth = 2};
    dcoll_schedule_t s = {0};
    unsigned last = 0;
    allreduce_shares.generate(&shape, &args, 0, &s);
    for (unsigned i = 0; i < s.nops; i++)
        if (s.ops[i].kind == DCOLL_PUT) {
            assert_true(s.ops[i].step > last || !last);
            last = s.ops[i].step;
        }
    assert_int_equal(s.error, 0);
    assert_true(last > 2 * n);
    dcoll_schedule_free(&s);
    free(nodes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verified),       cmocka_unit_test(test_planted),
        cmocka_unit_test(test_near_the_bound), cmocka_unit_test(test_auto),
        cmocka_unit_test(test_most_ranks),
    };
    const char *seed = getenv("COLL_SEED");
    state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("COLL_SEED=%llu\n", (unsigned long long)state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
