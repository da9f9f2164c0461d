/* SPDX-License-Identifier: BSD-3-Clause */
/* Foundations of railbench dsm: contents that differ, setups, and the results
 * that programs on shared memory are compared with. */
#include "unit.h"
#include "bench/dsm/program.h"
#include "bench/dsm/setup.h"
#include "bench/dsm/words.h"

static void test_words(void **state)
{
    enum { WORDS = 1500 };
    uint64_t memory[WORDS];
    words_fill(memory, 0, sizeof memory, 7);
    assert_true(words_right(memory, 0, sizeof memory, 7));
    assert_false(words_right(memory, 0, sizeof memory, 8));
    for (size_t i = 0; i < WORDS; i++) {
        assert_true(words_at(7, i) != words_at(8, i));
        assert_true(!i || words_at(7, i) != words_at(7, i - 1));
        memory[i] ^= UINT64_C(1) << i % 64;
        assert_false(words_right(memory, 0, sizeof memory, 7));
        memory[i] ^= UINT64_C(1) << i % 64;
    }
    /* a page of another place is not taken for this one */
    assert_false(words_right(memory + 512, 0, 4096, 7));
}

static void with_rails(options_t *opts, unsigned nrails)
{
    options_init(opts, "8");
    opts->nrails = nrails;
    for (unsigned r = 0; r < nrails; r++)
        snprintf(opts->rails[r], DRAIL_NAME_MAX, "r%u", r);
}

static unsigned count_of(const dsm_setup_t *setups, unsigned n,
                         drail_engine_t engine, unsigned nrails)
{
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        count += setups[i].how.engine == engine && setups[i].nrails == nrails;
    return count;
}

static void test_setups(void **state)
{
    static dsm_setup_t setups[DSM_SETUPS_MAX];
    options_t opts;
    char rails[64];
    with_rails(&opts, 3);
    opts.engines[3] = DRAIL_ENGINE_AUTO;
    opts.nengines = 4;
    unsigned n = dsm_setups_make(setups, &opts);
    assert_int_equal(n, 3 + 2 + 2 + 1);
    assert_int_equal(count_of(setups, n, DRAIL_ENGINE_SINGLE, 1), 3);
    assert_int_equal(count_of(setups, n, DRAIL_ENGINE_NONTHREADED, 2), 1);
    assert_int_equal(count_of(setups, n, DRAIL_ENGINE_THREADED, 3), 1);
    assert_int_equal(count_of(setups, n, DRAIL_ENGINE_AUTO, 3), 1);
    dsm_setup_rails(&setups[2], &opts, rails, sizeof rails);
    assert_string_equal(rails, "r2");
    dsm_setup_rails(&setups[3], &opts, rails, sizeof rails);
    assert_string_equal(rails, "r0+r1");
    opts.policies[0] = DRAIL_POLICY_ADAPTIVE;
    n = dsm_setups_make(setups, &opts);
    assert_int_equal(count_of(setups, n, DRAIL_ENGINE_NONTHREADED, 3), 1);
    assert_int_equal(n, 3 + 1 + 1 + 1);
    /* one rail is all that there is */
    with_rails(&opts, 1);
    n = dsm_setups_make(setups, &opts);
    assert_int_equal(n, 3);
    assert_int_equal(count_of(setups, n, DRAIL_ENGINE_NONTHREADED, 1), 1);
}

static void test_chosen(void **state)
{
    options_t opts;
    with_rails(&opts, 2);
    assert_true(dsm_chosen(&opts, DSM_FETCH) && dsm_chosen(&opts, DSM_JACOBI));
    opts.dsm.parts[0] = DSM_LOCK;
    opts.dsm.nparts = 1;
    assert_true(dsm_chosen(&opts, DSM_LOCK));
    assert_false(dsm_chosen(&opts, DSM_FETCH));
}

/* The result of a rank alone. */
static void *solution_of(const dsm_part_t *part, const options_t *opts)
{
    uint64_t ns;
    void *solution = part->program->alone(opts, 1, &ns);
    assert_non_null(solution);
    return solution;
}

/* The mean of the four around it a step before; the border stays. */
static void test_jacobi(void **state)
{
    enum { ROWS = 13, COLUMNS = 21 };
    options_t opts = {.dsm = {.rows = ROWS, .columns = COLUMNS, .steps = 8}};
    double *old = solution_of(&dsm_jacobi, &opts);
    opts.dsm.steps++;
    double *new = solution_of(&dsm_jacobi, &opts);
    assert_memory_equal(old, new, COLUMNS * sizeof(double));
    for (int r = 1; r + 1 < ROWS; r++)
        for (int c = 1; c + 1 < COLUMNS; c++) {
            const double *at = old + r * COLUMNS + c;
            double mean = (at[-1] + at[1] + at[-COLUMNS] + at[COLUMNS]) / 4;
            double error = mean - new[r * COLUMNS + c];
            assert_true(error < 1e-12 && error > -1e-12);
        }
    double all = 4. * (ROWS - 2) * (COLUMNS - 2) * 9;
    assert_true(dsm_jacobi.program->operations(&opts) == all);
    free(old);
    free(new);
}

/* Multipliers are at most 1, and each row of L times U is one of the matrix. */
static void test_lu(void **state)
{
    enum { N = 45 };
    const options_t opts = {.dsm = {.order = N}};
    bool met[N] = {false};
    const double *x = solution_of(&dsm_lu, &opts); /* column after column */
    for (int i = 0; i < N; i++) {
        double row[N] = {0};
        for (int j = 0; j < N; j++)
            for (int k = 0; k <= i && k <= j; k++)
                row[j] += (k < i ? x[k * N + i] : 1) * x[j * N + k];
        for (int k = 0; k < i; k++)
            assert_true(x[k * N + i] <= 1 && x[k * N + i] >= -1);
        int of = 0;
        for (; of < N; of++) {
            double error = 0;
            for (int j = 0; j < N; j++) {
                double by = row[j] - program_uniform(1, (uint64_t)(j * N + of));
                error += by < 0 ? -by : by;
            }
            if (error < 1e-9)
                break;
        }
        assert_true(of < N && !met[of]);
        met[of] = true;
    }
    free((void *)x);
}

/* By panels, one of which is not whole, the same is done in another order. */
static void test_lu_panels(void **state)
{
    enum { N = 75 };
    const options_t opts = {.dsm = {.order = N}};
    uint64_t ns;
    void *right = solution_of(&dsm_lu, &opts);
    void *panels = dsm_lu.program->timed(&opts, 1, &ns);
    assert_memory_equal(right, panels, N * N * sizeof(double));
    free(right);
    free(panels);
}

static void test_sort(void **state)
{
    const options_t opts = {.dsm = {.keys = 5000}};
    uint32_t *keys = solution_of(&dsm_sort, &opts);
    for (size_t i = 1; i < 5000; i++)
        assert_true(keys[i - 1] <= keys[i]);
    assert_true(keys[0] < keys[4999]);
    free(keys);
}

/* The rest of a run with another seed is no result. */
static void test_seeds(void **state)
{
    enum { SOME = 12 };
    const options_t opts = {.dsm = {.rows = SOME,
                                    .columns = SOME,
                                    .steps = 2,
                                    .order = SOME,
                                    .keys = SOME,
                                    .bodies = SOME}};
    for (unsigned p = 0; p < DSM_PARTS; p++) {
        uint64_t ns;
        if (!dsm_parts[p]->program)
            continue;
        void *one = dsm_parts[p]->program->alone(&opts, 0, &ns);
        void *other = dsm_parts[p]->program->alone(&opts, 1, &ns);
        assert_memory_not_equal(one, other, SOME * sizeof(uint32_t));
        free(one);
        free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),  cmocka_unit_test(test_setups),
        cmocka_unit_test(test_chosen), cmocka_unit_test(test_jacobi),
        cmocka_unit_test(test_lu),     cmocka_unit_test(test_lu_panels),
        cmocka_unit_test(test_sort),   cmocka_unit_test(test_seeds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
