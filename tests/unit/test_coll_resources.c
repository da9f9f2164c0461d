/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The multi-connection all-gathers use the resources of a node as Qian et al.
 * 2008, table 1, say, cell by cell, counted in their schedules: 16 ranks, 4 on
 * each node, copy mode, M bytes a block.
 *
 * But for phase 3 of the 1-group and 2-group algorithms: "16M_1W" and "8M_2W"
 * write the node's own blocks once more to where they are since phase 1, which
 * is left out here, 12 M and 6 M.
 *
 * Where the table and the text differ: phase 3 of the 1-group algorithms reads
 * "16M_4R", so the master reads shared memory, too, though by section 5.1 it
 * has all data in its own buffer and each "local process" copies; here it does
 * as the table says. The 1-group and the 2-group algorithms are said to have
 * "almost the same level of shared memory volume" (section 5.4) and even to
 * differ in its weight (section 7); by the table it is the same, 88 M, here 84
 * M, beside 100 M gather-based and 80 M with 4 groups.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"

#define RANKS  16
#define PPN    4
#define NODES  4
#define BLOCK  100 /* M, bytes */
#define STEPS  8
#define PHASES 3

static const unsigned begin[] = {0, 4, 8, 12, 16};
static const dcoll_shape_t shape = {RANKS, NODES, begin, 1};

/* beta times, concurrently or in steps, alpha blocks. */
struct usage {
    unsigned alpha, beta;
};

struct resources {
    unsigned in, out; /* connections that are active at the same time */
    unsigned steps;
    struct usage inbound, outbound; /* blocks on each connection and step */
    struct usage writes[PHASES], reads[PHASES]; /* of shared memory */
};

/* Blocks from one rank to another in a step. */
struct traffic {
    unsigned blocks[STEPS][RANKS][RANKS];
    unsigned writes[RANKS][PHASES], reads[RANKS][PHASES];
};

static bool on_node(unsigned rank, unsigned node)
{
    return rank / PPN == node;
}

static void count_op(struct traffic *t, unsigned rank, const dcoll_op_t *op)
{
    const unsigned blocks = (unsigned)(op->bytes / BLOCK);
    assert_int_equal(op->bytes % BLOCK, 0);
    assert_in_range(op->phase, 1, PHASES);
    assert_true(op->step < STEPS);
    if (op->kind == DCOLL_PUT) {
        t->blocks[op->step][rank][op->peer] += blocks;
        assert_int_equal(op->src.space, DCOLL_TEMP);
        assert_int_equal(op->dst.space, DCOLL_TEMP);
        assert_false(on_node(op->peer, rank / PPN));
    } else if (op->kind == DCOLL_COPY) {
        if (op->dst.space == DCOLL_NODE)
            t->writes[rank][op->phase - 1] += blocks;
        if (op->src.space == DCOLL_NODE)
            t->reads[rank][op->phase - 1] += blocks;
    } else {
        assert_int_equal(op->bytes, 0); /* no payloads beside flags */
    }
}

static void count(const dcoll_program_t *program, struct traffic *t)
{
    memset(t, 0, sizeof *t);
    for (unsigned r = 0; r < RANKS; r++)
        for (unsigned i = 0; i < program->rank[r].nops; i++)
            count_op(t, r, &program->rank[r].ops[i]);
}

/* Adds a connection with alpha blocks, all alike. */
static void add(struct usage *usage, unsigned alpha)
{
    if (!alpha)
        return;
    if (usage->beta++)
        assert_int_equal(usage->alpha, alpha);
    usage->alpha = alpha;
}

static struct resources of_node(const struct traffic *t, unsigned node)
{
    struct resources r = {0};
    for (unsigned step = 0; step < STEPS; step++) {
        unsigned in = 0, out = 0;
        for (unsigned from = 0; from < RANKS; from++)
            for (unsigned to = 0; to < RANKS; to++) {
                const unsigned blocks = t->blocks[step][from][to];
                if (on_node(from, node) && blocks) {
                    add(&r.outbound, blocks);
                    out++;
                }
                if (on_node(to, node) && blocks) {
                    add(&r.inbound, blocks);
                    in++;
                }
            }
        r.steps += in || out;
        r.in = in > r.in ? in : r.in;
        r.out = out > r.out ? out : r.out;
    }
    for (unsigned rank = node * PPN; rank < (node + 1) * PPN; rank++)
        for (unsigned phase = 0; phase < PHASES; phase++) {
            add(&r.writes[phase], t->writes[rank][phase]);
            add(&r.reads[phase], t->reads[rank][phase]);
        }
    return r;
}

static void assert_usage(struct usage got, struct usage expected)
{
    assert_int_equal(got.alpha, expected.alpha);
    assert_int_equal(got.beta, expected.beta);
}

static void assert_column(const dcoll_algorithm_t *algorithm,
                          const struct resources *expected)
{
    dcoll_args_t args = {
        .collective = DCOLL_ALLGATHER, .bytes = BLOCK, .depth = 2};
    dcoll_program_t program;
    struct traffic traffic;
    assert_int_equal(dcoll_program_make(algorithm, &shape, &args, &program), 0);
    count(&program, &traffic);
    dcoll_program_free(&program);
    for (unsigned node = 0; node < NODES; node++) {
        const struct resources got = of_node(&traffic, node);
        assert_int_equal(got.in, expected->in);
        assert_int_equal(got.out, expected->out);
        assert_int_equal(got.steps, expected->steps);
        assert_usage(got.inbound, expected->inbound);
        assert_usage(got.outbound, expected->outbound);
        for (unsigned phase = 0; phase < PHASES; phase++) {
            assert_usage(got.writes[phase], expected->writes[phase]);
            assert_usage(got.reads[phase], expected->reads[phase]);
        }
    }
}

static void test_single_connection(void **state)
{
    assert_column(&allgather_mc_single_ring,
                  &(struct resources){.in = 1,
                                      .out = 1,
                                      .steps = 3,
                                      .inbound = {4, 3},
                                      .outbound = {4, 3},
                                      .writes = {{1, 4}, {0, 0}, {12, 1}},
                                      .reads = {{4, 1}, {0, 0}, {16, 4}}});
}

static void test_one_group(void **state)
{
    assert_column(&allgather_mc_single,
                  &(struct resources){.in = 3,
                                      .out = 3,
                                      .steps = 1,
                                      .inbound = {4, 3},
                                      .outbound = {4, 3},
                                      .writes = {{1, 4}, {0, 0}, {12, 1}},
                                      .reads = {{4, 1}, {0, 0}, {16, 4}}});
}

static void test_gather_based(void **state)
{
    assert_column(&allgather_mc_gather,
                  &(struct resources){.in = 3,
                                      .out = 3,
                                      .steps = 1,
                                      .inbound = {4, 3},
                                      .outbound = {4, 3},
                                      .writes = {{1, 4}, {0, 0}, {16, 1}},
                                      .reads = {{4, 4}, {0, 0}, {16, 4}}});
}

static void test_two_groups(void **state)
{
    assert_column(&allgather_mc_2group,
                  &(struct resources){.in = 6,
                                      .out = 6,
                                      .steps = 1,
                                      .inbound = {2, 6},
                                      .outbound = {2, 6},
                                      .writes = {{1, 4}, {0, 0}, {6, 2}},
                                      .reads = {{2, 2}, {0, 0}, {16, 4}}});
}

static void test_four_groups(void **state)
{
    assert_column(&allgather_mc_allgroup,
                  &(struct resources){.in = 12,
                                      .out = 12,
                                      .steps = 1,
                                      .inbound = {1, 12},
                                      .outbound = {1, 12},
                                      .writes = {{0, 0}, {4, 4}, {0, 0}},
                                      .reads = {{0, 0}, {16, 4}, {0, 0}}});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_connection),
        cmocka_unit_test(test_one_group),
        cmocka_unit_test(test_gather_based),
        cmocka_unit_test(test_two_groups),
        cmocka_unit_test(test_four_groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
