/* SPDX-License-Identifier: BSD-3-Clause */
/* railbench verify: what is wrong in a few variants only is found by drawing,
 * and found again from the same number. */
#include "unit.h"
#include "bench/prove/draws.h"
#include "coll/algorithms/algorithms.h"

static const unsigned begin[] = {0, 12};
static const dcoll_shape_t shape = {12, 1, begin, 2};

/* Direct, but for three ports and zero copy: the last operation is missing. */
static void generate(const dcoll_shape_t *s, const dcoll_args_t *args,
                     unsigned rank, dcoll_schedule_t *out)
{
    allgather_direct.generate(s, args, rank, out);
    if (s->ports == 3 && args->zero_copy)
        out->nops--;
}

static const dcoll_algorithm_t rarely_wrong = {.name = "rarely-wrong",
                                               .collective = DCOLL_ALLGATHER,
                                               .generate = generate};

static void test_found(void **state)
{
    verify_row_t rows[2] = {{.algorithm = &rarely_wrong},
                            {.algorithm = &rarely_wrong}};
    for (unsigned i = 0; i < 2; i++) {
        uint64_t random = 7;
        assert_int_equal(verify_draws(&rows[i], &shape, 200, &random), 0);
        assert_true(rows[i].failed);
    }
    assert_non_null(strstr(rows[0].why, "3 ports"));
    assert_non_null(strstr(rows[0].why, "zero copy 1"));
    assert_string_equal(rows[0].why, rows[1].why);
}

/* Doubling, but for elements of 24 bytes. */
static void generate_combined(const dcoll_shape_t *s, const dcoll_args_t *args,
                              unsigned rank, dcoll_schedule_t *out)
{
    allreduce_doubling.generate(s, args, rank, out);
    if (args->element == 24)
        out->nops--;
}

static void test_elements(void **state)
{
    const dcoll_algorithm_t wrong = {.name = "wrong-elements",
                                     .collective = DCOLL_ALLREDUCE,
                                     .generate = generate_combined};
    verify_row_t row = {.algorithm = &wrong};
    uint64_t random = 7;
    assert_int_equal(verify_draws(&row, &shape, 50, &random), 0);
    assert_true(row.failed);
    assert_non_null(strstr(row.why, "elements of 24"));
    row = (verify_row_t){.algorithm = &allreduce_doubling};
    assert_int_equal(verify_draws(&row, &shape, 50, &random), 0);
    assert_false(row.failed);
}

/* Direct, but for elements of 48 bytes. */
static void generate_irregular(const dcoll_shape_t *s, const dcoll_args_t *args,
                               unsigned rank, dcoll_schedule_t *out)
{
    dcoll_generate(&alltoallv_direct, s, args, rank, out);
    if (args->traffic->element == 48)
        out->nops--;
}

static void test_irregular(void **state)
{
    const dcoll_algorithm_t wrong = {.name = "wrong-counts",
                                     .collective = DCOLL_ALLTOALLV,
                                     .refuses = alltoallv_direct.refuses,
                                     .generate = generate_irregular};
    verify_row_t row = {.algorithm = &wrong};
    uint64_t random = 7;
    assert_int_equal(verify_draws(&row, &shape, 50, &random), 0);
    assert_true(row.failed);
    assert_non_null(strstr(row.why, "elements of 48 bytes"));
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular(); *a;
         a++) {
        row = (verify_row_t){.algorithm = *a};
        assert_int_equal(verify_draws(&row, &shape, 20, &random), 0);
        if (row.failed)
            fail_msg("%s: %s", (*a)->name, row.why);
    }
}

static void test_correct(void **state)
{
    verify_row_t row = {.algorithm = &allgather_direct};
    uint64_t random = 7;
    assert_int_equal(verify_draws(&row, &shape, 50, &random), 0);
    assert_false(row.failed);
    assert_int_not_equal(random, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_irregular),
        cmocka_unit_test(test_correct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
