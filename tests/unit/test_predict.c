/* SPDX-License-Identifier: BSD-3-Clause */
/* What `auto` takes between nodes that only wires join, by the cost model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coll/algorithms/algorithms.h"
#include "coll/select/predict.h"
#include "coll/select/table.h"

#define NODES 8u

static bool crowded;

static struct prediction declared(unsigned wires)
{
    const dcoll_cost_model_t model = predict_model(wires, 0);
    return (struct prediction){.declared = model, .model = model};
}

static const char *taken(unsigned nodes, dcoll_collective_t collective,
                         size_t bytes, bool wires)
{
    unsigned first[NODES + 1];
    for (unsigned n = 0; n <= nodes; n++)
        first[n] = 2 * n;
    const dcoll_shape_t shape = {2 * nodes, nodes, first, 2};
    struct prediction p = declared(wires ? 2 : 0);
    p.crowded = crowded;
    dcoll_args_t args = {
        .collective = collective, .bytes = bytes, .element = 8, .depth = 2};
    const dcoll_algorithm_t *ruled =
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args);
    args.ports = predict_ports(&p);
    assert_int_equal(args.ports, wires);
    const dcoll_algorithm_t *a = predict_faster(&p, &shape, &args, ruled);
    assert_ptr_equal(predict_faster(&p, &shape, &args, ruled), a);
    return a->name;
}

static void expect(unsigned nodes, dcoll_collective_t collective, size_t bytes,
                   const char *shared, const char *wires)
{
    assert_string_equal(taken(nodes, collective, bytes, false), shared);
    assert_string_equal(taken(nodes, collective, bytes, true), wires);
}

/* A message takes longer than the copies and flags that save one. */
static void test_fewer_rounds(void **state)
{
    expect(2, DCOLL_ALLREDUCE, 1024, "smp-slices", "smp-doubling");
    expect(4, DCOLL_ALLTOALL, 8, "smp-gather-scatter", "smp-direct");
    expect(8, DCOLL_ALLTOALL, 8, "smp-gather-scatter", "smp-direct");
    expect(8, DCOLL_ALLGATHER, 8, "smp-bruck-all", "smp-bruck-all");
    assert_string_not_equal(taken(4, DCOLL_ALLGATHER, 8, true),
                            "smp-gather-bcast");
}

/* No detour over one of two nodes, wherever they are. */
static void test_two_nodes(void **state)
{
    for (size_t bytes = 1; bytes < 512; bytes *= 2)
        expect(2, DCOLL_ALLGATHER, bytes, "smp-bruck-all", "smp-bruck");
}

/* Without wires messages are cheap: all ranks send short blocks. */
static void test_all_send(void **state)
{
    assert_string_equal(taken(4, DCOLL_ALLGATHER, 8192, false),
                        "smp-bruck-all");
    assert_string_equal(taken(4, DCOLL_ALLGATHER, 16384, false), "smp-direct");
    crowded = true;
    assert_string_equal(taken(2, DCOLL_ALLGATHER, 8, false), "smp-bruck");
    crowded = false;
}

/* Longer blocks, and ranks that share cores: measured, not predicted. */
static void test_by_rules(void **state)
{
    expect(4, DCOLL_ALLREDUCE, 16384, "smp-slices", "smp-doubling");
    expect(4, DCOLL_ALLREDUCE, 128 << 10, "smp-slices", "smp-doubling");
    expect(8, DCOLL_ALLREDUCE, 128 << 10, "smp-slices", "smp-slices");
    expect(4, DCOLL_ALLREDUCE, 192 << 10, "smp-slices", "smp-slices");
    expect(4, DCOLL_BCAST, 65536, "binomial", "smp-bcast");
    expect(4, DCOLL_BCAST, 96 << 10, "binomial", "smp-circulant");
    expect(2, DCOLL_BCAST, 1 << 20, "binomial", "smp-circulant");
    expect(4, DCOLL_ALLGATHER, 16384, "smp-direct", "smp-bruck");
    expect(4, DCOLL_ALLGATHER, 32768, "smp-direct", "smp-direct");
    for (size_t bytes = 2048; bytes <= 1 << 20; bytes *= 2) {
        const char *rule = taken(4, DCOLL_ALLTOALL, bytes, false);
        bool pairs = bytes >= 128 << 10 && bytes < 768 << 10;
        expect(4, DCOLL_ALLTOALL, bytes, rule, pairs ? "pairwise" : rule);
    }
    crowded = true;
    expect(4, DCOLL_ALLTOALL, 8, "smp-gather-scatter", "smp-gather-scatter");
    expect(4, DCOLL_ALLREDUCE, 1024, "smp-slices", "smp-doubling");
    crowded = false;
}

static const char *taken_of(const unsigned *first, unsigned nodes, size_t bytes)
{
    const dcoll_shape_t shape = {first[nodes], nodes, first, 2};
    struct prediction p = declared(2);
    p.crowded = true;
    dcoll_args_t args = {.collective = DCOLL_ALLREDUCE,
                         .bytes = bytes,
                         .element = 8,
                         .depth = 2,
                         .ports = 1};
    const dcoll_algorithm_t *ruled =
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args);
    return predict_faster(&p, &shape, &args, ruled)->name;
}

/* The last node is not full: its rules are not those of nodes of one rank. */
static void test_nodes_of_one_rank(void **state)
{
    static const unsigned one[] = {0, 1, 2, 3, 4}, last[] = {0, 8, 16, 24, 25};
    assert_string_equal(taken_of(one, 4, 512), "doubling");
    assert_string_equal(taken_of(one, 4, 8192), "doubling");
    assert_string_equal(taken_of(last, 4, 512), "smp-doubling");
    assert_string_equal(taken_of(last, 4, 8192), "halving");
}

/* Rules that save copies know more than the model. */
static void test_without_copies(void **state)
{
    static const unsigned first[] = {0, 2, 4};
    const dcoll_shape_t shape = {4, 2, first, 2};
    struct prediction p = declared(2);
    dcoll_args_t args = {
        .collective = DCOLL_ALLTOALL, .bytes = 8, .element = 8, .depth = 2};
    const dcoll_algorithm_t *ruled =
        dcoll_algorithm_find(DCOLL_ALLTOALL, "pairwise");
    assert_ptr_not_equal(predict_faster(&p, &shape, &args, ruled), ruled);
    args.zero_copy = true;
    assert_ptr_equal(predict_faster(&p, &shape, &args, ruled), ruled);
}

static const dcoll_algorithm_t *
of(struct prediction *p, const dcoll_shape_t *shape, dcoll_args_t args)
{
    const dcoll_algorithm_t *ruled =
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, shape, &args);
    return predict_faster(p, shape, &args, ruled);
}

static void same_after(dcoll_args_t earlier, dcoll_args_t args)
{
    static const unsigned first[] = {0, 3, 6, 9, 12, 15, 18, 21};
    for (unsigned nodes = 2; nodes < 8; nodes++) {
        const dcoll_shape_t shape = {3 * nodes, nodes, first, 2};
        struct prediction p = declared(2), q = p;
        of(&p, &shape, earlier);
        assert_ptr_equal(of(&p, &shape, args), of(&q, &shape, args));
    }
}

/* A rank may ask for other calls first than the other ranks, by
 * dcoll_would_wait(). */
static void test_same_on_all_ranks(void **state)
{
    static const size_t sizes[] = {64, 96, 120, 256, 504, 512, 904, 1016};
    static const dcoll_collective_t collectives[] = {
        DCOLL_GATHER,    DCOLL_ALLGATHER, DCOLL_ALLTOALL,
        DCOLL_BCAST,     DCOLL_SCATTER,   DCOLL_REDUCE,
        DCOLL_ALLREDUCE, DCOLL_SCAN,      DCOLL_REDUCE_SCATTER_BLOCK};
    for (size_t c = 0; c < sizeof collectives / sizeof *collectives; c++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const dcoll_args_t args = {.collective = collectives[c],
                                       .bytes = sizes[i],
                                       .element = 8,
                                       .commutes = true,
                                       .depth = 2,
                                       .ports = 1};
            dcoll_args_t earlier = args;
            earlier.bytes = sizes[i ^ 1];
            same_after(earlier, args);
            earlier = args;
            earlier.commutes = false;
            same_after(earlier, args);
            earlier = args;
            earlier.root = 2;
            same_after(earlier, args);
        }
}

static const char *taken_if(double one_way, double gap,
                            dcoll_collective_t collective)
{
    static const unsigned first[] = {0, 2, 4, 6, 8};
    const dcoll_shape_t shape = {8, 4, first, 2};
    struct prediction p = declared(2);
    predict_measured(&p, one_way, gap);
    return of(&p, &shape,
              (dcoll_args_t){.collective = collective,
                             .bytes = 8,
                             .element = 8,
                             .depth = 2,
                             .ports = 1})
        ->name;
}

/* Messages in a row may cost little beside the way, or as much. */
static void test_measured(void **state)
{
    assert_string_equal(taken_if(1000, 1, DCOLL_ALLGATHER), "smp-direct");
    assert_string_equal(taken_if(30, 30, DCOLL_ALLGATHER), "smp-bruck");
    assert_string_equal(taken_if(1000, 1, DCOLL_ALLREDUCE),
                        taken_if(30, 30, DCOLL_ALLREDUCE));
}

/* One rank a node; the operation must commute. */
static void test_long_reduce(void **state)
{
    const unsigned first[] = {0, 1, 2, 3, 4};
    const dcoll_shape_t shape = {4, 4, first, 2};
    for (unsigned i = 0; i < 4; i++) {
        struct prediction p = declared(2);
        dcoll_args_t args = {.collective = DCOLL_REDUCE,
                             .bytes = i & 1 ? 128 << 10 : 64 << 10,
                             .element = 8,
                             .commutes = i & 2,
                             .depth = 2};
        const dcoll_algorithm_t *ruled =
            dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args);
        assert_ptr_equal(ruled, &reduce_direct);
        assert_ptr_equal(predict_faster(&p, &shape, &args, ruled),
                         i == 3 ? &reduce_circulant : &reduce_direct);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_measured),
        cmocka_unit_test(test_same_on_all_ranks),
        cmocka_unit_test(test_fewer_rounds),
        cmocka_unit_test(test_two_nodes),
        cmocka_unit_test(test_all_send),
        cmocka_unit_test(test_by_rules),
        cmocka_unit_test(test_nodes_of_one_rank),
        cmocka_unit_test(test_without_copies),
        cmocka_unit_test(test_long_reduce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
