/* SPDX-License-Identifier: BSD-3-Clause */
/* bench/coll/plan.c and result.c: which cases run, and their figures. */
#include <math.h>
#include <unistd.h>
#include "unit.h"
#include "bench/coll/result.h"

static options_t opts;
static coll_plan_t plan;
static notes_t notes;

/* The plan of test_allgather, quietly if it is refused. */
static int make(const bench_test_t *test, uint64_t ranks, uint64_t ppn)
{
    FILE *before = stderr;
    notes = (notes_t){0};
    plan = (coll_plan_t){0};
    opts.ranks = ranks;
    opts.ppn = ppn;
    stderr = fopen("/dev/null", "w");
    assert_non_null(stderr);
    int rc =
        coll_plan_make(&plan, &opts, &test->table, test->collective, &notes);
    fclose(stderr);
    stderr = before;
    return rc;
}

static int setup(void **state)
{
    options_init(&opts, "8,1K");
    options_one_engine(&opts);
    return 0;
}

static void test_shape(void **state)
{
    assert_int_equal(make(&test_allgather, 5, 2), 0);
    assert_int_equal(plan.shape.nranks, 5);
    assert_int_equal(plan.shape.nnodes, 3);
    const unsigned begin[] = {0, 2, 4, 5};
    assert_memory_equal(plan.shape.node_begin, begin, sizeof begin);
    assert_int_equal(plan.shape.ports, opts.nrails);
    assert_int_equal(plan.count, 1);
    assert_string_equal(coll_setup_algorithm(&plan.setups[0]), "auto");
    assert_int_equal(make(&test_allgather, 3, 8), 0);
    assert_int_equal(plan.shape.nnodes, 1);
}

static void test_all_and_named(void **state)
{
    opts.nalgorithms = 2;
    strcpy(opts.algorithms[0], "ring");
    strcpy(opts.algorithms[1], "all");
    assert_int_equal(make(&test_allgather, 4, 2), 0);
    unsigned rings = 0;
    for (unsigned i = 0; i < plan.count; i++) {
        assert_int_equal(plan.setups[i].algorithm->collective, DCOLL_ALLGATHER);
        assert_string_not_equal(plan.setups[i].algorithm->name,
                                "shm-allgather");
        rings += !strcmp(plan.setups[i].algorithm->name, "ring");
    }
    assert_int_equal(rings, 1);
    assert_ptr_equal(strstr(notes.text[0], "left out: shm-allgather: "),
                     notes.text[0]);
}

static void test_refused(void **state)
{
    opts.nalgorithms = 1;
    strcpy(opts.algorithms[0], "shm-allgather");
    assert_int_equal(make(&test_allgather, 4, 4), 0);
    assert_int_equal(make(&test_allgather, 4, 2), -1);
    assert_int_equal(make(&test_gather, 4, 4), -1);
    opts.nalgorithms = 0;
    opts.root = 4;
    assert_int_equal(make(&test_gather, 4, 4), -1);
    assert_int_equal(make(&test_gather, 5, 4), 0);
    opts.root = 0;
    opts.groups = 3;
    assert_int_equal(make(&test_allgather, 4, 2), -1);
    assert_int_equal(make(&test_allgather, 4, 3), 0);
    assert_int_equal(make(&test_barrier, 4, 4), -1);
}

static void test_overlap_refused(void **state)
{
    opts.overlap = true;
    opts.overlap_tests = 5;
    assert_int_equal(make(&test_allgather, 4, 2), 0);
    opts.each = true;
    assert_int_equal(make(&test_allgather, 4, 2), -1);
    opts.each = false;
    opts.calls[1] = CALL_BLOCKING;
    opts.ncalls = 2;
    assert_int_equal(make(&test_allgather, 4, 2), -1);
    opts.ncalls = 1;
    assert_int_equal(make(&test_allgather, 4, 2), 0);
    opts.overlap = false;
    assert_int_equal(make(&test_allgather, 4, 2), -1);
    opts.overlap_tests = 0;
    assert_int_equal(make(&test_allgather, 4, 2), 0);
}

static void test_engines(void **state)
{
    char label[64];
    options_init(&opts, "8"); /* single, nonthreaded, threaded; two rails */
    assert_int_equal(make(&test_gather, 2, 0), 0);
    assert_int_equal(plan.count, 3);
    coll_setup_label(&plan, &plan.setups[1], label, sizeof label);
    assert_string_equal(label, "auto nonthreaded");
    options_one_engine(&opts);
    assert_int_equal(make(&test_gather, 2, 0), 0);
    coll_setup_label(&plan, &plan.setups[0], label, sizeof label);
    assert_string_equal(label, "auto");
}

static void test_zero_copy(void **state)
{
    dcoll_args_t args;
    opts.nalgorithms = 1;
    strcpy(opts.algorithms[0], "direct");
    const struct {
        zero_copy_t way;
        size_t bytes;
        bool wanted;
    } cases[] = {{ZERO_COPY_ON, 1, true},
                 {ZERO_COPY_OFF, 1 << 20, false},
                 {ZERO_COPY_AUTO, 1, false},
                 {ZERO_COPY_AUTO, 1 << 20, true}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        opts.zero_copy = cases[i].way;
        assert_int_equal(make(&test_alltoall, 4, 0), 0);
        assert_string_equal(
            coll_plan_args(&plan, &plan.setups[0], cases[i].bytes, &args)->name,
            "direct");
        assert_int_equal(args.zero_copy, cases[i].wanted);
    }
    opts.nalgorithms = 0; /* auto, between nodes */
    for (unsigned i = 1; i < sizeof cases / sizeof *cases; i++) {
        opts.zero_copy = cases[i].way;
        assert_int_equal(make(&test_alltoall, 4, 1), 0);
        coll_plan_args(&plan, &plan.setups[0], cases[i].bytes, &args);
        assert_int_equal(args.zero_copy, cases[i].wanted);
    }
}

static void test_buffers(void **state)
{
    opts.root = 1;
    assert_int_equal(make(&test_gather, 4, 0), 0);
    assert_int_equal(coll_send_blocks(&plan, 0), 1);
    assert_int_equal(coll_recv_blocks(&plan, 0), 0);
    assert_int_equal(coll_recv_blocks(&plan, 1), 4);
    assert_int_equal(coll_received(&plan, 10), 30);
    assert_int_equal(make(&test_scatter, 4, 0), 0);
    assert_int_equal(coll_send_blocks(&plan, 1), 4);
    assert_int_equal(coll_send_blocks(&plan, 2), 0);
    assert_int_equal(coll_received(&plan, 10), 10);
    assert_int_equal(make(&test_bcast, 4, 0), 0);
    assert_int_equal(coll_recv_blocks(&plan, 1), 1);
    opts.root = 0;
    assert_int_equal(make(&test_alltoall, 4, 0), 0);
    assert_int_equal(coll_send_blocks(&plan, 3), 4);
    assert_int_equal(coll_recv_blocks(&plan, 3), 4);
}

/* Blocking calls have plain buffers beside the registered ones. */
static void test_memory(void **state)
{
    const unsigned blocks = 4 * (1 + 4); /* of all ranks */
    uint64_t have =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    opts.sizes[0] = have / 4 * 3 / blocks;
    assert_int_equal(make(&test_allgather, 4, 0), 0);
    opts.calls[0] = CALL_BLOCKING;
    opts.ncalls = 1;
    assert_int_equal(make(&test_allgather, 4, 0), -1);
    opts.sizes[0] /= 2;
    assert_int_equal(make(&test_allgather, 4, 0), 0);
}

static void test_figures(void **state)
{
    assert_int_equal(make(&test_allgather, 3, 0), 0);
    coll_result_t *r = coll_result_create(&test_allgather, &plan);
    assert_non_null(r);
    assert_int_equal(r->ncells, 2);
    coll_cell_t *cell = &r->cells[1];
    assert_int_equal(cell->bytes, 1024);
    assert_true(isnan(coll_figures(r->opts, cell).us.median));
    for (uint64_t i = 0; i < 3; i++)
        cell->repeats[cell->count++] =
            (coll_repeat_t){.iterations = 10,
                            .max_ns = 10000 * (3 - i),
                            .avg_ns = 5000 * (3 - i)};
    coll_figures_t f = coll_figures(r->opts, cell);
    assert_true(f.us.median == 2 && f.us.lo == 1 && f.us.hi == 3);
    assert_true(f.avg_us.median == 1);
    assert_true(f.MBps.median == 1024);        /* 2 blocks in 2 us */
    assert_true(isnan(f.p50) && isnan(f.max)); /* no single call is known */
    cell->tail = (coll_tail_t){2000, 3000, 4000, 5000};
    f = coll_figures(r->opts, cell);
    assert_true(f.p50 == 2 && f.p99 == 3 && f.p999 == 4 && f.max == 5);
    assert_int_equal(f.iterations, 10);
    coll_result_destroy(r);
}

/* All of a call is hidden, half of it, nothing, less than nothing; and there is
 * none. */
static void test_overlap(void **state)
{
    const struct {
        double pure, compute, total, percent;
    } cases[] = {{4, 4, 4, 100},
                 {4, 4, 6, 50},
                 {4, 6, 10, 0},
                 {4, 4, 12, 0},
                 {0, 0, 0, 0}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        coll_overlap_t o = {0};
        coll_overlap_add(&o, cases[i].pure, cases[i].compute, cases[i].total);
        assert_int_equal(o.count, 1);
        assert_true(o.values[OVERLAP_PURE][0] == cases[i].pure);
        assert_true(o.values[OVERLAP_COMPUTE][0] == cases[i].compute);
        assert_true(o.values[OVERLAP_TOTAL][0] == cases[i].total);
        assert_true(o.values[OVERLAP_PERCENT][0] == cases[i].percent);
    }
}

static void test_overlap_figures(void **state)
{
    options_t given = {.repeat = 3};
    coll_cell_t cell = {0};
    coll_figures_t f = coll_figures(&given, &cell);
    assert_true(isnan(f.overlap[OVERLAP_PERCENT].median));
    for (unsigned i = 0; i < 3; i++)
        coll_overlap_add(&cell.overlap, 10, 20, 20 + i);
    f = coll_figures(&given, &cell);
    assert_true(f.overlap[OVERLAP_PURE].median == 10);
    assert_true(f.overlap[OVERLAP_COMPUTE].median == 20);
    assert_true(f.overlap[OVERLAP_TOTAL].median == 21);
    assert_true(f.overlap[OVERLAP_PERCENT].median == 90);
    assert_true(f.overlap[OVERLAP_PERCENT].lo == 80);
    assert_true(f.overlap[OVERLAP_PERCENT].hi == 100);
}

/* An interval leaves out the ends of many repeats, a range has them. */
static void test_reported(void **state)
{
    options_t real = {0}, simulated = {.simulated = "a"};
    coll_cell_t cell = {.count = 12};
    for (unsigned i = 0; i < cell.count; i++)
        cell.repeats[i] =
            (coll_repeat_t){.iterations = 1, .max_ns = 1000 * (i + 1)};
    summary_t us = coll_latency(&real, &cell);
    assert_true(us.lo > 1 && us.hi < 12 && us.coverage > 0.95);
    us = coll_latency(&simulated, &cell);
    assert_true(us.lo == 1 && us.hi == 12 && isnan(us.coverage));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_shape, setup),
        cmocka_unit_test_setup(test_all_and_named, setup),
        cmocka_unit_test_setup(test_refused, setup),
        cmocka_unit_test_setup(test_engines, setup),
        cmocka_unit_test_setup(test_zero_copy, setup),
        cmocka_unit_test_setup(test_buffers, setup),
        cmocka_unit_test_setup(test_memory, setup),
        cmocka_unit_test_setup(test_figures, setup),
        cmocka_unit_test_setup(test_overlap_refused, setup),
        cmocka_unit_test_setup(test_overlap, setup),
        cmocka_unit_test_setup(test_overlap_figures, setup),
        cmocka_unit_test_setup(test_reported, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
