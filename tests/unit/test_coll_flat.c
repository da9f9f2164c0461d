/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The flat algorithms are correct for any number of ranks and ports, root and
 * mode, and take the steps of Qian and Afsahi 2008, section 5.1.
 */
#include "powers.h"
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "dapl_rail/dapl_rail.h"

#ifdef DRAIL_SANITIZE
enum { ALL_OF = 9 };
#else
enum { ALL_OF = 20 };
#endif

static const dcoll_algorithm_t *const flat[] = {
    &gather_binomial,       &gather_direct,       &gather_tree,
    &allgather_direct,      &allgather_exchange,  &allgather_bruck,
    &allgather_ring,        &allgather_doubling,  &allgather_gather_bcast,
    &alltoall_direct,       &alltoall_exchange,   &alltoall_bruck,
    &alltoall_pairwise,     &alltoall_permission, &bcast_binomial,
    &bcast_direct,          &scatter_binomial,    &scatter_direct,
    &barrier_dissemination,
};

#define FLAT (sizeof flat / sizeof *flat)

static bool rooted(const dcoll_algorithm_t *algorithm)
{
    return algorithm->collective == DCOLL_GATHER ||
           algorithm->collective == DCOLL_BCAST ||
           algorithm->collective == DCOLL_SCATTER;
}

/* All ranks on one node: flat algorithms don't look at it. */
static void make(const dcoll_algorithm_t *algorithm, unsigned n, unsigned k,
                 const dcoll_args_t *args, dcoll_shape_t *shape,
                 unsigned node_begin[2], dcoll_program_t *program)
{
    node_begin[0] = 0;
    node_begin[1] = n;
    *shape = (dcoll_shape_t){
        .nranks = n, .nnodes = 1, .node_begin = node_begin, .ports = k};
    assert_int_equal(dcoll_program_make(algorithm, shape, args, program), 0);
}

static void verify(const dcoll_algorithm_t *algorithm, unsigned n, unsigned k,
                   const dcoll_args_t *args)
{
    unsigned node_begin[2];
    dcoll_shape_t shape;
    dcoll_program_t program;
    char why[512] = "";
    make(algorithm, n, k, args, &shape, node_begin, &program);
    if (dcoll_verify(&program, 3, why, sizeof why))
        fail_msg("%s %s, %u ranks, %u ports, root %u, %zu bytes%s%s, depth %u: "
                 "%s",
                 dcoll_collective_name(algorithm->collective), algorithm->name,
                 n, k, args->root, args->bytes,
                 args->in_place ? ", in place" : "",
                 args->zero_copy ? ", zero copy" : "", args->depth, why);
    dcoll_program_free(&program);
}

/* Every mode: in place, zero copy, depth 1 and 2. */
static void verify_modes(const dcoll_algorithm_t *algorithm, unsigned n,
                         unsigned k, unsigned root, size_t bytes)
{
    for (unsigned mode = 0; mode < 8; mode++) {
        const dcoll_args_t args = {
            .collective = algorithm->collective,
            .bytes = bytes,
            .root = root,
            .in_place = mode & 1,
            .zero_copy = mode & 2,
            .depth = 1 + (mode >> 2),
        };
        verify(algorithm, n, k, &args);
    }
}

static void test_all_small(void **state)
{
    for (unsigned a = 0; a < FLAT; a++)
        for (unsigned n = 1; n <= ALL_OF; n++)
            for (unsigned k = 1; k <= 4; k++)
                verify_modes(flat[a], n, k, 0, (n + k) % 2 ? 1 : 8);
}

static void test_no_bytes(void **state)
{
    for (unsigned a = 0; a < FLAT; a++)
        for (unsigned n = 1; n <= 9; n++)
            verify_modes(flat[a], n, 1 + n % 3, n / 2, 0);
}

static void test_roots(void **state)
{
    for (unsigned a = 0; a < FLAT; a++)
        for (unsigned n = 2; rooted(flat[a]) && n <= ALL_OF; n++)
            for (unsigned root = 1; root < n; root++)
                verify_modes(flat[a], n, 1 + (n + root) % 4, root, 8);
}

static void test_large(void **state)
{
    static const unsigned ranks[] = {27, 31, 36, 64};
    for (unsigned a = 0; a < FLAT; a++)
        for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++)
            for (unsigned k = 1; k <= 4; k++) {
                const dcoll_args_t args = {
                    .collective = flat[a]->collective,
                    .bytes = 8,
                    .root = rooted(flat[a]) ? ranks[i] - 3 : 0,
                    .in_place = (a + i) % 2,
                    .zero_copy = (i + k) % 2,
                    .depth = 1 + (a + k) % 2,
                };
                verify(flat[a], ranks[i], k, &args);
            }
}

/* ---------------------------------------------------------------- steps --- */

/* Steps of the whole program. In each, a rank sends and receives at most one
 * message a port: that is what makes it a step of the k-port model. */
static unsigned steps_of(const dcoll_program_t *program)
{
    const unsigned n = program->shape->nranks, k = program->shape->ports;
    const size_t row = (size_t)2 * n * k;
    unsigned steps = 0;
    unsigned char *busy = calloc(n + 2, row);
    assert_non_null(busy);
    for (unsigned r = 0; r < n; r++)
        for (unsigned i = 0; i < program->rank[r].nops; i++) {
            const dcoll_op_t *op = &program->rank[r].ops[i];
            if (op->kind != DCOLL_PUT && op->kind != DCOLL_NOTIFY)
                continue;
            if (op->step >= steps)
                steps = op->step + 1u;
            assert_true(steps <= n + 2);
            if (op->kind != DCOLL_PUT)
                continue;
            assert_true(op->port < k);
            unsigned char *step = busy + op->step * row;
            assert_int_equal(step[r * k + op->port]++, 0);
            assert_int_equal(step[(n + op->peer) * k + op->port]++, 0);
        }
    free(busy);
    return steps;
}

static unsigned steps(const dcoll_algorithm_t *algorithm, unsigned n,
                      unsigned k)
{
    const dcoll_args_t args = {
        .collective = algorithm->collective, .bytes = 8, .depth = 2};
    unsigned node_begin[2];
    dcoll_shape_t shape;
    dcoll_program_t program;
    make(algorithm, n, k, &args, &shape, node_begin, &program);
    const unsigned result = steps_of(&program);
    dcoll_program_free(&program);
    return result;
}

/* ⌈log_{k+1} N⌉: eqs. (1), (5). */
static void test_steps_logarithmic(void **state)
{
    static const dcoll_algorithm_t *const log_steps[] = {
        &gather_binomial, &bcast_binomial, &scatter_binomial,
        &allgather_bruck, &alltoall_bruck, &barrier_dissemination,
    };
    for (unsigned n = 1; n <= 64; n++)
        for (unsigned k = 1; k <= 4; k++) {
            for (unsigned a = 0; a < sizeof log_steps / sizeof *log_steps; a++)
                assert_int_equal(steps(log_steps[a], n, k), log_up(n, k + 1));
            assert_int_equal(steps(&gather_tree, n, k), log_up(n, 2));
            assert_int_equal(steps(&allgather_gather_bcast, n, k),
                             2 * log_up(n, 2));
        }
}

/* ⌈(N-1)/k⌉: eq. (2). */
static void test_steps_direct(void **state)
{
    static const dcoll_algorithm_t *const direct[] = {
        &gather_direct,    &bcast_direct,    &scatter_direct,
        &allgather_direct, &alltoall_direct,
    };
    static const dcoll_algorithm_t *const single_port[] = {
        &allgather_ring, &alltoall_pairwise, &alltoall_permission};
    for (unsigned n = 1; n <= 64; n++)
        for (unsigned k = 1; k <= 4; k++) {
            for (unsigned a = 0; a < sizeof direct / sizeof *direct; a++)
                assert_int_equal(steps(direct[a], n, k), divided_up(n - 1, k));
            for (unsigned a = 0; a < 3; a++)
                assert_int_equal(steps(single_port[a], n, k), n - 1);
        }
}

/* Powers: log_{k+1} N, eq. (3). Else two more for the all-gather; the
 * all-to-all's depend on the factors of N. */
static void test_steps_exchange(void **state)
{
    for (unsigned n = 1; n <= 64; n++)
        for (unsigned k = 1; k <= 4; k++) {
            const unsigned up = log_up(n, k + 1);
            const bool power = is_power(n, k + 1);
            assert_int_equal(steps(&allgather_exchange, n, k),
                             power ? up : up - 1 + 2);
            if (power)
                assert_int_equal(steps(&alltoall_exchange, n, k), up);
            assert_int_equal(steps(&allgather_doubling, n, k),
                             is_power(n, 2) ? log_up(n, 2)
                                            : log_up(n, 2) - 1 + 2);
        }
    assert_int_equal(steps(&alltoall_exchange, 16, 2), 4); /* 4 * 4: 2 + 2 */
    assert_int_equal(steps(&alltoall_exchange, 12, 1), 4); /* 3 * 2 * 2 */
    assert_int_equal(steps(&alltoall_exchange, 6, 2), 2);  /* 3 * 2 */
    assert_int_equal(steps(&alltoall_exchange, 13, 3), 4); /* prime: direct */
}

/* --------------------------------------------------------------- memory --- */

/* Most TEMP of any rank, in blocks. */
static size_t temp_blocks(const dcoll_algorithm_t *algorithm, unsigned n,
                          unsigned k, bool zero_copy)
{
    const dcoll_args_t args = {.collective = algorithm->collective,
                               .bytes = 1,
                               .zero_copy = zero_copy,
                               .depth = 2};
    unsigned node_begin[2];
    dcoll_shape_t shape;
    dcoll_program_t program;
    size_t most = 0;
    make(algorithm, n, k, &args, &shape, node_begin, &program);
    for (unsigned r = 0; r < n; r++)
        if (program.rank[r].temp_bytes > most)
            most = program.rank[r].temp_bytes;
    dcoll_program_free(&program);
    return most;
}

static void test_memory(void **state)
{
    for (unsigned n = 2; n <= 64; n++)
        for (unsigned k = 1; k <= 4; k++) {
            for (unsigned a = 0; a < FLAT; a++)
                if (flat[a]->collective == DCOLL_ALLGATHER ||
                    flat[a]->collective == DCOLL_GATHER)
                    assert_int_equal(temp_blocks(flat[a], n, k, false), n);
            assert_int_equal(temp_blocks(&bcast_binomial, n, k, false), 1);
            assert_int_equal(temp_blocks(&alltoall_direct, n, k, false), 2 * n);
            assert_int_equal(temp_blocks(&alltoall_direct, n, k, true), 0);
            assert_int_equal(temp_blocks(&allgather_direct, n, k, true), 0);
            assert_true(temp_blocks(&alltoall_bruck, n, k, true) <=
                        n + (size_t)n * k / (k + 1) * log_up(n, k + 1) +
                            log_up(n, k + 1));
        }
    assert_int_equal(temp_blocks(&alltoall_bruck, 9, 2, false), 9 + 2 * 6);
    assert_int_equal(temp_blocks(&alltoall_exchange, 16, 3, false),
                     16 + 2 * 12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_small),
        cmocka_unit_test(test_no_bytes),
        cmocka_unit_test(test_roots),
        cmocka_unit_test(test_large),
        cmocka_unit_test(test_steps_logarithmic),
        cmocka_unit_test(test_steps_direct),
        cmocka_unit_test(test_steps_exchange),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests_name("coll_flat", tests, NULL, NULL);
}
