/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The algorithms that use node memory, verified over many shapes for three
 * starts; and their differences, counted in their schedules.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"

#define STARTS     3
#define MOST_NODES 64
#define ALL_WAYS   9 /* ranks */

static const dcoll_algorithm_t *const one_node[] = {
    &gather_shm, &allgather_shm, &alltoall_shm,
    &bcast_shm,  &scatter_shm,   &barrier_shm};
static const dcoll_algorithm_t *const many_nodes[] = {
    &gather_smp,
    &bcast_smp,
    &barrier_smp,
    &allgather_smp_gather_bcast,
    &allgather_smp_gather_bcast_tree,
    &allgather_smp_direct,
    &allgather_smp_bruck,
    &allgather_smp_bruck_all,
    &alltoall_smp_direct,
    &alltoall_smp_bruck,
    &alltoall_smp_gather_scatter,
    &allgather_mc_single,
    &allgather_mc_single_ring,
    &allgather_mc_gather,
    &allgather_mc_2group,
    &allgather_mc_allgroup,
    &allgather_mc_groups};

#define COUNT(array) (sizeof(array) / sizeof *(array))

struct shape {
    dcoll_shape_t shape;
    unsigned begin[MOST_NODES + 1];
};

/* Nodes of ppn ranks, the last of what is left; stride 0: all alike, else node
 * n has 1 + n * stride % ppn. */
static void fill(struct shape *s, unsigned nranks, unsigned ppn,
                 unsigned stride, unsigned ports)
{
    unsigned nodes = 0;
    s->begin[0] = 0;
    while (s->begin[nodes] < nranks) {
        unsigned count = stride ? 1 + nodes * stride % ppn : ppn;
        unsigned left = nranks - s->begin[nodes];
        assert_true(nodes < MOST_NODES);
        s->begin[nodes + 1] = s->begin[nodes] + (count < left ? count : left);
        nodes++;
    }
    s->shape = (dcoll_shape_t){nranks, nodes, s->begin, ports};
}

static void verify(const dcoll_algorithm_t *algorithm, const struct shape *s,
                   dcoll_args_t args)
{
    dcoll_program_t program;
    char why[512];
    args.collective = algorithm->collective;
    assert_int_equal(dcoll_program_make(algorithm, &s->shape, &args, &program),
                     0);
    if (dcoll_verify(&program, STARTS, why, sizeof why))
        fail_msg("%s, %u ranks, %u nodes (first %u), %u ports, %zu bytes, "
                 "root %u, in place %d, zero copy %d, groups %u, depth %u: %s",
                 algorithm->name, s->shape.nranks, s->shape.nnodes,
                 s->shape.node_begin[1], s->shape.ports, args.bytes, args.root,
                 args.in_place, args.zero_copy, args.groups, args.depth, why);
    dcoll_program_free(&program);
}

/* In place or not, zero copy or not, depth 1 and 2, and a size: all eight ways
 * with few ranks, one of them in turn with many, where met has their bits. */
static void verify_ways(const dcoll_algorithm_t *algorithm,
                        const struct shape *s, unsigned turn, unsigned *met)
{
    static const size_t sizes[] = {0, 1, 8, 57, 100};
    unsigned step = s->shape.nranks > ALL_WAYS ? 8 : 1;
    /* not turn % 8 alone, which would be tied to the algorithm or the ports,
     * nor the next digit alone, of which there may be 64 together */
    unsigned first = (turn + turn / 8 + turn / 64) % step;
    for (unsigned way = first; way < 8; way += step) {
        *met |= step > 1 ? 1u << way : 0;
        verify(algorithm, s,
               (dcoll_args_t){.bytes = sizes[(turn + way) % COUNT(sizes)],
                              .root = (turn + 3 * way) % s->shape.nranks,
                              .in_place = way & 1,
                              .zero_copy = way & 2,
                              .groups = turn % 5,
                              .depth = way & 4 ? 1 : 2});
    }
}

/* Of each algorithm with so many ports, with many ranks. */
typedef unsigned ways_t[COUNT(many_nodes)][5];

/* Sizes and roots take turns over the shapes: all of them meet. */
static unsigned verify_shape(const struct shape *s, unsigned turn, ways_t met)
{
    for (unsigned a = 0; a < COUNT(many_nodes); a++)
        verify_ways(many_nodes[a], s, turn++, &met[a][s->shape.ports]);
    return turn;
}

static void all_met(ways_t met)
{
    for (unsigned a = 0; a < COUNT(many_nodes); a++)
        for (unsigned ports = 1; ports <= 4; ports++)
            if (met[a][ports] != 0xff)
                fail_msg("%s, %u ports: of 8 ways only 0x%x",
                         many_nodes[a]->name, ports, met[a][ports]);
}

static void test_one_node(void **state)
{
    unsigned turn = 0, met[COUNT(one_node)] = {0};
    for (unsigned n = 1; n <= 24; n++)
        for (unsigned a = 0; a < COUNT(one_node); a++)
            for (unsigned i = 0; i < 5; i++) {
                struct shape s;
                fill(&s, n, n, 0, 1);
                verify_ways(one_node[a], &s, turn++, &met[a]);
            }
    for (unsigned a = 0; a < COUNT(one_node); a++)
        assert_int_equal(met[a], 0xff);
}

/* Blocks so long that they go in pieces. */
static void test_long_blocks(void **state)
{
    static const dcoll_algorithm_t *const in_pieces[] = {
        &gather_shm, &allgather_shm, &alltoall_shm,        &bcast_shm,
        &reduce_shm, &allreduce_shm, &allreduce_shm_slices};
    static const size_t sizes[] = {40000, 81920, 600064};
    for (unsigned n = 1; n <= 5; n++)
        for (unsigned a = 0; a < COUNT(in_pieces); a++)
            for (unsigned way = 0; way < 4 * COUNT(sizes); way++) {
                struct shape s;
                fill(&s, n, n, 0, 1);
                verify(in_pieces[a], &s,
                       (dcoll_args_t){.bytes = sizes[way / 4],
                                      .element = a < 4 ? 0 : 8,
                                      .root = n - 1,
                                      .in_place = way & 1,
                                      .depth = way & 2 ? 1 : 2});
            }
}

static void test_even_nodes(void **state)
{
    unsigned turn = 0;
    ways_t met = {0};
    for (unsigned n = 1; n <= 24; n++)
        for (unsigned ppn = 1; ppn <= 8; ppn++)
            for (unsigned ports = 1; ports <= 4; ports++) {
                struct shape s;
                fill(&s, n, ppn, 0, ports);
                turn = verify_shape(&s, turn, met);
            }
    all_met(met);
}

static void test_uneven_nodes(void **state)
{
    unsigned turn = 0;
    ways_t met = {0};
    for (unsigned n = 3; n <= 24; n++)
        for (unsigned ppn = 2; ppn <= 8; ppn++)
            for (unsigned stride = 1; stride <= 3; stride += 2) {
                struct shape s;
                fill(&s, n, ppn, stride, 1 + n % 4);
                turn = verify_shape(&s, turn, met);
            }
    all_met(met);
}

static void test_many_nodes(void **state)
{
    static const unsigned shapes[][3] = {
        {64, 1, 0}, {64, 4, 0}, {64, 8, 0}, {61, 5, 2}, {48, 3, 0}};
    unsigned turn = 0;
    ways_t met = {0};
    for (unsigned i = 0; i < COUNT(shapes); i++) {
        struct shape s;
        fill(&s, shapes[i][0], shapes[i][1], shapes[i][2], 1 + i % 4);
        turn = verify_shape(&s, turn, met);
    }
}

static void test_refused_on_two_nodes(void **state)
{
    struct shape s;
    fill(&s, 4, 2, 0, 1);
    for (unsigned a = 0; a < COUNT(one_node); a++) {
        dcoll_args_t args = {.depth = 2};
        assert_non_null(one_node[a]->refuses(&s.shape, &args));
    }
}

/* ------------------------------------------------ what they consist of --- */

static unsigned count(const dcoll_algorithm_t *algorithm, const struct shape *s,
                      dcoll_args_t args, unsigned rank, dcoll_kind_t kind)
{
    dcoll_schedule_t schedule = {0};
    unsigned n = 0;
    args.collective = algorithm->collective;
    algorithm->generate(&s->shape, &args, rank, &schedule);
    assert_int_equal(schedule.error, 0);
    for (unsigned i = 0; i < schedule.nops; i++)
        n += schedule.ops[i].kind == kind;
    dcoll_schedule_free(&schedule);
    return n;
}

/* Up to 56 bytes: a line of the sender's per peer, and no NODE. */
static void test_small_blocks_travel_in_lines(void **state)
{
    struct shape s;
    dcoll_schedule_t schedule = {0};
    dcoll_args_t args = {.bytes = DCOLL_LINE_BYTES, .depth = 2};
    fill(&s, 8, 8, 0, 1);
    args.collective = DCOLL_ALLGATHER;
    allgather_shm.generate(&s.shape, &args, 3, &schedule);
    assert_int_equal(schedule.nops, 2 + 7);
    assert_int_equal(schedule.node_bytes, 0);
    assert_int_equal(schedule.flags, 1);
    dcoll_schedule_free(&schedule);
    args.bytes++;
    assert_int_equal(count(&allgather_shm, &s, args, 3, DCOLL_COPY), 2 + 7);
}

/* Between 9 nodes: ⌈log_{k+1} 9⌉ rounds of at most k, or 8 puts; masters only.
 */
static void test_puts_of_masters(void **state)
{
    static const unsigned bruck[] = {4, 4, 6, 8};
    dcoll_args_t args = {.bytes = 100, .zero_copy = true, .depth = 2};
    for (unsigned ports = 1; ports <= 4; ports++) {
        struct shape s;
        fill(&s, 27, 3, 0, ports);
        for (unsigned r = 0; r < 27; r++) {
            const unsigned master = r % 3 == 0;
            assert_int_equal(
                count(&allgather_smp_direct, &s, args, r, DCOLL_PUT),
                master * 8);
            assert_int_equal(
                count(&allgather_smp_bruck, &s, args, r, DCOLL_PUT),
                master * bruck[ports - 1]);
        }
    }
}

/* A message between two nodes, which the ranks of each share. */
static void test_messages_of_all(void **state)
{
    dcoll_args_t args = {.bytes = 100, .depth = 2};
    for (unsigned ppn = 1; ppn <= 9; ppn++)
        for (unsigned ports = 1; ports <= 4; ports++) {
            struct shape s;
            fill(&s, 9 * ppn, ppn, 0, ports);
            for (unsigned r = 0; r < 9 * ppn; r++)
                assert_int_equal(
                    count(&alltoall_smp_direct, &s, args, r, DCOLL_PUT),
                    8 / ppn + (r % ppn < 8 % ppn));
        }
}

/* The starts whose memory a cache holds. */
static void test_depth(void **state)
{
    struct shape two, eight;
    fill(&two, 2, 2, 0, 1);
    fill(&eight, 8, 8, 0, 1);
    assert_int_equal(dcoll_depth(&gather_shm, &two.shape, 4 << 20, 2), 1);
    assert_int_equal(dcoll_depth(&gather_shm, &two.shape, 3 << 20, 2), 2);
    assert_int_equal(dcoll_depth(&allgather_shm, &eight.shape, 1 << 20, 2), 1);
    assert_int_equal(dcoll_depth(&alltoall_shm, &eight.shape, 128 << 10, 2), 1);
    assert_int_equal(dcoll_depth(&alltoall_shm, &eight.shape, 64 << 10, 2), 2);
    assert_int_equal(dcoll_depth(&scan_shm_chain, &eight.shape, 8 << 20, 2), 1);
    assert_int_equal(dcoll_depth(&exscan_shm_chain, &eight.shape, 8 << 20, 2),
                     1);
    assert_int_equal(dcoll_depth(&reduce_shm_chain, &two.shape, 8 << 20, 2), 1);
    assert_int_equal(dcoll_depth(&allreduce_shm_chain, &two.shape, 8 << 20, 2),
                     1);
    assert_int_equal(dcoll_depth(&scan_shm_chain, &eight.shape, 7 << 20, 2), 2);
    assert_int_equal(dcoll_depth(&bcast_shm, &eight.shape, 16 << 20, 2), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_node),
        cmocka_unit_test(test_long_blocks),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_even_nodes),
        cmocka_unit_test(test_uneven_nodes),
        cmocka_unit_test(test_many_nodes),
        cmocka_unit_test(test_refused_on_two_nodes),
        cmocka_unit_test(test_small_blocks_travel_in_lines),
        cmocka_unit_test(test_puts_of_masters),
        cmocka_unit_test(test_messages_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
