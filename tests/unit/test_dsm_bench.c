/* SPDX-License-Identifier: BSD-3-Clause */
/* What railbench dsm stands on: walks that nothing foretells, contents that
 * differ, setups, and a grid that is the same in parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/dsm/jacobi.h"
#include "bench/dsm/setup.h"
#include "bench/dsm/walk.h"
#include "bench/dsm/words.h"

/* All pages once, none after the one before it. */
static void test_walk(void **state)
{
    (void)state;
    for (uint64_t pages = 3; pages < 300; pages++) {
        uint64_t stride = walk_stride(pages), page = 0;
        bool met[300] = {false};
        for (uint64_t i = 0; i < pages; i++) {
            uint64_t next = (page + stride) % pages;
            assert_false(met[page]);
            assert_true(next != page + 1);
            met[page] = true;
            page = next;
        }
    }
}

static void test_words(void **state)
{
    enum { WORDS = 1500 };
    uint64_t memory[WORDS];
    (void)state;
    words_fill(memory, sizeof memory, 7);
    assert_true(words_right(memory, sizeof memory, 7));
    assert_false(words_right(memory, sizeof memory, 8));
    for (size_t i = 0; i < WORDS; i++) {
        assert_true(words_at(7, i) != words_at(8, i));
        assert_true(!i || words_at(7, i) != words_at(7, i - 1));
        memory[i] ^= UINT64_C(1) << i % 64;
        assert_false(words_right(memory, sizeof memory, 7));
        memory[i] ^= UINT64_C(1) << i % 64;
    }
    /* a page of another place is not taken for this one */
    assert_false(words_right(memory + 512, 4096, 7));
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
    (void)state;
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
    (void)state;
    with_rails(&opts, 2);
    assert_true(dsm_chosen(&opts, DSM_FETCH) && dsm_chosen(&opts, DSM_JACOBI));
    opts.dsm.parts[0] = DSM_LOCK;
    opts.dsm.nparts = 1;
    assert_true(dsm_chosen(&opts, DSM_LOCK));
    assert_false(dsm_chosen(&opts, DSM_FETCH));
}

/* Step by step by so many parts. */
static void solve_in(const jacobi_t *j, unsigned parts, double *grid[2])
{
    for (unsigned i = 0; i < 2; i++)
        for (unsigned p = 0; p < parts; p++)
            jacobi_begin(j, grid[i], j->rows * p / parts,
                         j->rows * (p + 1) / parts);
    for (uint64_t s = 0; s < j->steps; s++)
        for (unsigned p = 0; p < parts; p++)
            jacobi_sweep(j, grid[s % 2], grid[(s + 1) % 2], j->rows * p / parts,
                         j->rows * (p + 1) / parts);
}

static void test_jacobi(void **state)
{
    jacobi_t j = {.rows = 13, .columns = 21, .steps = 9};
    size_t bytes = j.rows * j.columns * sizeof(double);
    double *grid[2] = {malloc(bytes), malloc(bytes)};
    uint64_t ns, cells = 0;
    (void)state;
    assert_int_equal(jacobi_solve(&j, &ns), 0);
    for (unsigned parts = 1; parts < 20; parts++) {
        solve_in(&j, parts, grid);
        assert_memory_equal(grid[j.steps % 2], j.solution, bytes);
    }
    for (unsigned p = 0; p < 20; p++)
        cells += jacobi_cells(&j, j.rows * p / 20, j.rows * (p + 1) / 20);
    assert_int_equal(cells, (j.rows - 2) * (j.columns - 2));
    /* each step changes it, but not the border */
    assert_true(memcmp(grid[0], grid[1], bytes));
    assert_memory_equal(grid[0], grid[1], j.columns * sizeof(double));
    /* a mean of the four around it */
    const double *new = grid[1] + 5 * j.columns + 7;
    const double *old = grid[0] + 5 * j.columns + 7;
    double mean =
        (old[-1] + old[1] + old[-(int)j.columns] + old[j.columns]) / 4;
    assert_true(mean - *new < 1e-12 && *new - mean < 1e-12);
    jacobi_free(&j);
    free(grid[0]);
    free(grid[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_walk),   cmocka_unit_test(test_words),
        cmocka_unit_test(test_setups), cmocka_unit_test(test_chosen),
        cmocka_unit_test(test_jacobi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
