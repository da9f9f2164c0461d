/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lower bounds of steps and blocks: no schedule needs less, and some need no
 * more, also where nodes share memory.
 */
#include "unit.h"
#include "bench/prove/bounds.h"
#include "coll/algorithms/algorithms.h"

enum { RANKS_MAX = 24, PORTS_MAX = 3, LINE = 64 };

struct tolls {
    unsigned steps;
    double blocks;
    bool shares;
};

static struct tolls tolls_of(const dcoll_program_t *p)
{
    const dcoll_cost_model_t byte = {.tau = 1};
    struct tolls t = {.blocks = dcoll_cost(p, &byte) / (double)p->args.bytes};
    for (unsigned r = 0; r < p->shape->nranks; r++) {
        const dcoll_schedule_t *s = &p->rank[r];
        t.shares |= s->flags || s->node_bytes;
        for (unsigned i = 0; i < s->nops; i++) {
            const dcoll_op_t *op = &s->ops[i];
            const bool message =
                op->kind == DCOLL_PUT || op->kind == DCOLL_GET ||
                (op->kind == DCOLL_NOTIFY && op->tag == DCOLL_DATA);
            if (message && op->step >= t.steps)
                t.steps = op->step + 1u;
        }
    }
    return t;
}

/* false: it refuses. */
static bool make(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                 dcoll_program_t *p)
{
    dcoll_args_t args = {.collective = a->collective,
                         .bytes = shape->nranks * LINE,
                         .element = 8,
                         .root = shape->nranks / 2,
                         .depth = 2};
    args.commutes = dcoll_needs_commuting(a, shape, &args);
    return !dcoll_program_make(a, shape, &args, p);
}

static void check(const dcoll_algorithm_t *a, const dcoll_shape_t *shape)
{
    dcoll_program_t p;
    if (!make(a, shape, &p))
        return;
    const struct tolls t = tolls_of(&p);
    const double blocks = bound_blocks(&p.args, shape, t.shares);
    if (!p.rank[0].connections && t.steps < bound_steps(shape, t.shares))
        fail_msg("%s %s: %u ranks, %u nodes, %u ports: %u steps, bound %u",
                 dcoll_collective_name(a->collective), a->name, shape->nranks,
                 shape->nnodes, shape->ports, t.steps,
                 bound_steps(shape, t.shares));
    if (a->collective != DCOLL_BARRIER && !p.rank[0].connections &&
        t.blocks < blocks * 0.9999)
        fail_msg("%s %s: %u ranks, %u nodes, %u ports: %g blocks, bound %g",
                 dcoll_collective_name(a->collective), a->name, shape->nranks,
                 shape->nnodes, shape->ports, t.blocks, blocks);
    dcoll_program_free(&p);
}

static void test_none_needs_less(void **state)
{
    unsigned begin[RANKS_MAX + 1];
    for (unsigned n = 1; n <= RANKS_MAX; n++)
        for (unsigned ppn = 1; ppn <= n; ppn = ppn * 2 + 1)
            for (unsigned k = 1; k <= PORTS_MAX; k++) {
                const dcoll_shape_t shape = {
                    n, dcoll_shape_nodes(n, ppn, begin), begin, k};
                for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a;
                     a++)
                    check(*a, &shape);
            }
}

/* Nodes of 3 ranks: as many blocks as the cuts around nodes demand. */
static void test_cuts_are_reached(void **state)
{
    static const struct {
        const dcoll_algorithm_t *algorithm;
        unsigned ports, nodes;
        double blocks;
    } all[] = {
        {&allgather_smp_bruck_all, 1, 4, 3}, /* 9 blocks, 3 ports */
        {&allgather_smp_bruck_all, 2, 7, 3}, /* 18 blocks, 6 ports */
        {&reduce_scatter_block_smp_bruck, 1, 4, 3},
        {&reduce_scatter_block_smp_bruck, 2, 5, 2},
        {&allreduce_smp_slices, 1, 4, 0.5}, /* 2 * 3 of 12 ranks' ports */
    };
    unsigned begin[RANKS_MAX + 1];
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        const unsigned n = 3 * all[i].nodes;
        const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, 3, begin), begin,
                                     all[i].ports};
        dcoll_program_t p;
        assert_true(make(all[i].algorithm, &shape, &p));
        assert_float_equal(bound_blocks(&p.args, &shape, true), all[i].blocks,
                           1e-9);
        assert_float_equal(tolls_of(&p).blocks, all[i].blocks, 1e-9);
        dcoll_program_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none_needs_less),
        cmocka_unit_test(test_cuts_are_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
