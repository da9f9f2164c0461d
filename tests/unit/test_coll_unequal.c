/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Blocks of different sizes: all algorithms that serve them are correct, on
 * several shapes, with empty blocks, in all variants; schedules that were made
 * for other sizes are not.
 */
#include "unit.h"
#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

enum { RANKS = 9, KINDS = 6 };

/* Elements of a rank's block: some empty, one alone, one much longer, … */
static size_t count_of_kind(unsigned kind, unsigned n, unsigned rank)
{
    switch (kind) {
    case 0:
        return rank;
    case 1:
        return rank == n - 1 ? 1 : 0;
    case 2:
        return rank == n / 2 ? 40 : 3;
    case 3:
        return rank % 2 ? 0 : 7; /* fit a line */
    case 4:
        return 0;
    default:
        return 5;
    }
}

static void set_blocks(dcoll_args_t *args, size_t *begin, unsigned n,
                       unsigned kind)
{
    begin[0] = args->bytes = 0;
    for (unsigned r = 0; r < n; r++) {
        size_t bytes = args->element * count_of_kind(kind, n, r);
        begin[r + 1] = begin[r] + bytes;
        args->bytes = bytes > args->bytes ? bytes : args->bytes;
    }
    args->begin = begin;
}

static unsigned verified;

static void verify(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                   const dcoll_args_t *args)
{
    dcoll_program_t p;
    char why[512] = "";
    int rc = dcoll_program_make(a, shape, args, &p);
    if (rc == DRAIL_ENOTSUP)
        return;
    if (!rc)
        rc = dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why);
    if (rc)
        fail_msg("%s %s, %u ranks, %u nodes, longest %zu, in place %d, zero "
                 "copy %d, depth %u: %s",
                 dcoll_collective_name(a->collective), a->name, shape->nranks,
                 shape->nnodes, args->bytes, args->in_place, args->zero_copy,
                 args->depth, why);
    dcoll_program_free(&p);
    verified++;
}

static void verify_variants(const dcoll_algorithm_t *a,
                            const dcoll_shape_t *shape, size_t element)
{
    size_t begin[RANKS + 1];
    for (unsigned v = 0; v < 8 * KINDS; v++) {
        dcoll_args_t args = {.collective = a->collective,
                             .element = element,
                             .root = v % shape->nranks,
                             .in_place = v & 1,
                             .zero_copy = v & 2,
                             .depth = v & 4 ? 1 : 2};
        args.commutes = dcoll_needs_commuting(a, shape, &args);
        set_blocks(&args, begin, shape->nranks, v / 8);
        if (!dcoll_collective_reduces(a->collective))
            args.element = 0;
        verify(a, shape, &args);
    }
}

static void test_all(void **state)
{
    unsigned nodes[RANKS + 1], serving = 0;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        serving += (*a)->unequal;
        for (unsigned n = 1; (*a)->unequal && n <= RANKS; n++)
            for (unsigned ppn = 1; ppn <= n; ppn += 2)
                for (unsigned ports = 1; ports <= 2; ports++) {
                    const unsigned nnodes = dcoll_shape_nodes(n, ppn, nodes);
                    const dcoll_shape_t shape = {n, nnodes, nodes, ports};
                    verify_variants(*a, &shape, 8);
                }
    }
    assert_true(serving >= 12 && verified > 2000);
}

/* Long blocks of odd elements: pieces of a chain end within them. */
static void test_chain(void **state)
{
    const dcoll_algorithm_t *a =
        dcoll_algorithm_find(DCOLL_REDUCE_SCATTER_BLOCK, "shm-chain");
    for (unsigned n = 1; n <= RANKS; n++) {
        const unsigned nodes[] = {0, n};
        const dcoll_shape_t shape = {n, 1, nodes, 1};
        verify_variants(a, &shape, 3 << 12);
    }
}

/* Equal blocks only. */
static void test_refused(void **state)
{
    static const unsigned nodes[] = {0, 4};
    static const size_t begin[] = {0, 8, 8, 24, 32};
    const dcoll_shape_t shape = {4, 1, nodes, 1};
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        const dcoll_args_t args = {.collective = (*a)->collective,
                                   .bytes = 16,
                                   .begin = begin,
                                   .commutes = true,
                                   .depth = 2};
        if (!(*a)->unequal)
            assert_non_null(dcoll_refusal(*a, &shape, &args));
    }
}

/* A schedule of one rank that was made for other sizes of the same sum. */
static void test_planted(void **state)
{
    static const unsigned nodes[] = {0, 1, 2, 3};
    static const size_t begin[] = {0, 8, 24, 48}, other[] = {0, 24, 40, 48};
    const dcoll_shape_t shape = {3, 3, nodes, 1};
    char why[512];
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        dcoll_program_t p;
        dcoll_args_t args = {.collective = (*a)->collective,
                             .bytes = 24,
                             .begin = begin,
                             .depth = 2};
        if (!(*a)->unequal ||
            dcoll_program_make(*a, &shape, &args, &p) == DRAIL_ENOTSUP)
            continue;
        args.begin = other;
        dcoll_schedule_free(&p.rank[0]);
        dcoll_generate(*a, &shape, &args, 0, &p.rank[0]);
        assert_int_equal(dcoll_verify(&p, 3, why, sizeof why), DRAIL_EINVAL);
        dcoll_program_free(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_chain),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_planted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
