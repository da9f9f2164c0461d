/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The papers' pacing: a rank posts the k messages of a step after those of the
 * step before are complete. Without pacing it posts whatever is ready.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"

enum { PPN = 2, MOST_RANKS = 20 };

/* Algorithms that post several steps at once unless paced. */
static const dcoll_algorithm_t *const posting[] = {
    &allgather_direct, &allgather_pull,     &allgather_smp_direct,
    &alltoall_direct,  &alltoall_pull,      &alltoall_exchange,
    &bcast_binomial,   &bcast_direct,       &bcast_smp,
    &scatter_binomial, &scatter_direct,     &allgather_smp_gather_bcast,
    &allgather_bruck,  &allgather_exchange, &alltoall_smp_direct,
};

static const dcoll_algorithm_t *const exchanging[] = {
    &allgather_direct, &alltoall_direct, &alltoall_exchange,
    &allgather_smp_direct, &alltoall_smp_direct};

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Nodes of PPN, or one node for those that want that. */
static void make(const dcoll_algorithm_t *algorithm, unsigned n, unsigned k,
                 dcoll_args_t args, dcoll_shape_t *shape,
                 dcoll_program_t *program)
{
    static unsigned begin[MOST_RANKS + 1];
    const unsigned nodes = dcoll_shape_nodes(n, PPN, begin);
    *shape = (dcoll_shape_t){n, nodes, begin, k};
    args.collective = algorithm->collective;
    args.commutes = true;
    if (dcoll_refusal(algorithm, shape, &args)) {
        shape->nnodes = dcoll_shape_nodes(n, n, begin);
    }
    assert_int_equal(dcoll_program_make(algorithm, shape, &args, program), 0);
}

static bool is_transfer(const dcoll_op_t *op)
{
    return op->kind == DCOLL_PUT || op->kind == DCOLL_GET;
}

/* Most steps, on any rank, with transfers under way at the same time. */
static unsigned steps_at_once(const dcoll_program_t *program)
{
    unsigned most = 0;
    for (unsigned r = 0; r < program->shape->nranks; r++) {
        unsigned steps = 0, step = 0;
        for (unsigned i = 0; i < program->rank[r].nops; i++) {
            const dcoll_op_t *op = &program->rank[r].ops[i];
            if (op->kind == DCOLL_COMPLETE)
                steps = 0;
            if (!is_transfer(op))
                continue;
            steps += !steps || op->step != step;
            step = op->step;
            most = steps > most ? steps : most;
        }
    }
    return most;
}

static void test_posts(void **state)
{
    for (unsigned a = 0; a < COUNT(posting); a++)
        for (unsigned zero_copy = 0; zero_copy < 2; zero_copy++)
            for (unsigned k = 1; k <= 2; k++) {
                dcoll_args_t args = {
                    .bytes = 100, .zero_copy = zero_copy, .depth = 2};
                dcoll_program_t program;
                dcoll_shape_t shape;
                make(posting[a], 20, k, args, &shape, &program);
                assert_true(steps_at_once(&program) > 1);
                dcoll_program_free(&program);
                args.paced = true;
                make(posting[a], 20, k, args, &shape, &program);
                if (steps_at_once(&program) > 1)
                    fail_msg("%s %s, %u ports: %u steps at once",
                             dcoll_collective_name(posting[a]->collective),
                             posting[a]->name, k, steps_at_once(&program));
                dcoll_program_free(&program);
            }
}

/* In an exchange a step ends when its messages have come, too. */
static void test_arrivals(void **state)
{
    const dcoll_args_t args = {.bytes = 100, .depth = 2, .paced = true};
    for (unsigned a = 0; a < COUNT(exchanging); a++) {
        dcoll_program_t program;
        dcoll_shape_t shape;
        make(exchanging[a], 20, 2, args, &shape, &program);
        for (unsigned r = 0; r < 20; r++) {
            unsigned posted = 0, owed = 0;
            for (unsigned i = 0; i < program.rank[r].nops; i++) {
                const dcoll_op_t *op = &program.rank[r].ops[i];
                if (op->kind == DCOLL_PUT && op->step != posted)
                    assert_int_equal(owed, 0);
                if (op->kind == DCOLL_PUT) {
                    posted = op->step;
                    owed++;
                }
                if (op->kind == DCOLL_WAIT && op->tag == DCOLL_DATA)
                    owed--;
            }
            assert_int_equal(owed, 0);
        }
        dcoll_program_free(&program);
    }
}

static void test_right(void **state)
{
    char why[512];
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++)
        for (unsigned n = 1; n <= MOST_RANKS; n += 1 + n / 6)
            for (unsigned way = 0; way < 8; way++) {
                const dcoll_args_t args = {.bytes = n % 2 ? 100 : 8,
                                           .root = n / 3,
                                           .in_place =
                                               way & 1 && *a != &alltoall_pull,
                                           .zero_copy = way & 2,
                                           .depth = way & 4 ? 1 : 2,
                                           .paced = true};
                const unsigned k = 1 + (n + way) % 4;
                dcoll_program_t program;
                dcoll_shape_t shape;
                make(*a, n, k, args, &shape, &program);
                if (dcoll_verify(&program, 3, why, sizeof why))
                    fail_msg("%s %s, %u ranks, %u ports, way %u: %s",
                             dcoll_collective_name((*a)->collective),
                             (*a)->name, n, k, way, why);
                dcoll_program_free(&program);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_posts),
        cmocka_unit_test(test_arrivals),
        cmocka_unit_test(test_right),
    };
    return cmocka_run_group_tests_name("coll_pacing", tests, NULL, NULL);
}
