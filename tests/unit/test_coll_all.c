/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All algorithms are correct: N = 1 … 64 ranks, k = 1 … 4 ports, 1 … 8 ranks
 * per node and uneven nodes, three starts back to back. Small N with all
 * variants (in place, zero copy, depth, bytes, root), large N with one of them
 * in turn. Two processes share the work.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

#define STARTS    3
#define PORTS_MAX 4
#define PPN_MAX   8
#define WORKERS   2
#ifdef DRAIL_SANITIZE
#define RANKS_MAX   20
#define ALL_RANKS   4 /* up to so many: all variants */
#define SHAPES_STEP 2
#else
#define RANKS_MAX   64
#define ALL_RANKS   9
#define SHAPES_STEP 1
#endif

/* In place, zero copy, depth: 8 ways; bytes with and without a payload, where
 * blocks fill a cache line, and none. */
static const size_t sizes[] = {8, 64, 1, 0, 56, 57};
#define SIZES    (sizeof sizes / sizeof *sizes)
#define VARIANTS (8 * SIZES)

/* Large N: sizes that are cells of a handful of bytes. */
static const size_t large_sizes[] = {8, 64};

struct sweep {
    const dcoll_algorithm_t *algorithm;
    unsigned cases, failures;
};

static void describe(const dcoll_program_t *p, char *text, size_t size)
{
    const dcoll_shape_t *s = p->shape;
    int used = snprintf(
        text, size,
        "%u ranks, %u ports, in place %d, zero copy %d, depth %u, %zu bytes, "
        "root %u, nodes begin at",
        s->nranks, s->ports, p->args.in_place, p->args.zero_copy, p->args.depth,
        p->args.bytes, p->args.root);
    for (unsigned n = 0; n < s->nnodes && (size_t)used < size; n++)
        used +=
            snprintf(text + used, size - (size_t)used, " %u", s->node_begin[n]);
}

static void run(struct sweep *sweep, const dcoll_shape_t *shape,
                const dcoll_args_t *args)
{
    const dcoll_algorithm_t *a = sweep->algorithm;
    dcoll_program_t p;
    char why[1024] = "", text[1024];
    int rc = dcoll_program_make(a, shape, args, &p);
    if (rc == DRAIL_ENOTSUP)
        return;
    if (!rc)
        rc = dcoll_verify(&p, STARTS + (args->depth > 2 ? args->depth : 0), why,
                          sizeof why);
    sweep->cases++;
    if (rc && sweep->failures++ < 3) {
        describe(&p, text, sizeof text);
        fprintf(stderr, "%s %s: %s: %s\n", dcoll_collective_name(a->collective),
                a->name, text, why);
    }
    dcoll_program_free(&p);
}

static void run_variant(struct sweep *sweep, const dcoll_shape_t *shape,
                        unsigned variant, size_t bytes)
{
    const dcoll_args_t args = {
        .collective = sweep->algorithm->collective,
        .bytes = bytes,
        .root = variant * 7 % shape->nranks,
        .in_place = variant & 1,
        .zero_copy = variant & 2,
        .depth = variant & 4 ? 1 : 2,
        .groups = variant / 8 % 5,
    };
    run(sweep, shape, &args);
}

static void run_shape(struct sweep *sweep, const dcoll_shape_t *shape)
{
    if (shape->nranks <= ALL_RANKS) {
        for (unsigned v = 0; v < VARIANTS; v++)
            run_variant(sweep, shape, v, sizes[v / 8]);
        return;
    }
    /* so that each variant meets each number of ranks, ports, nodes */
    unsigned v = shape->nranks * 5 + shape->ports * 3 + shape->nnodes;
    run_variant(sweep, shape, v, large_sizes[v / 8 % 2]);
}

/* ------------------------------------------------------------- shapes --- */

/* ppn 0: uneven nodes of 1 … 8 ranks. */
static unsigned make_nodes(unsigned n, unsigned ppn, unsigned *node_begin)
{
    static const unsigned uneven[] = {3, 1, 5, 2, 8, 1, 4};
    unsigned nodes = 0, first = 0;
    while (first < n) {
        node_begin[nodes] = first;
        first += ppn ? ppn : uneven[(nodes + n) % 7];
        nodes++;
    }
    node_begin[nodes] = n;
    return nodes;
}

/* Do nodes make a difference to the algorithm? */
static bool knows_nodes(const dcoll_algorithm_t *a)
{
    static const unsigned one[] = {0, 6}, three[] = {0, 3, 5, 6};
    const dcoll_shape_t shapes[] = {{6, 1, one, 2}, {6, 3, three, 2}};
    const dcoll_args_t args = {
        .collective = a->collective, .bytes = 8, .depth = 2};
    dcoll_program_t p[2];
    bool differ = false;
    if (a->refuses &&
        (a->refuses(&shapes[0], &args) || a->refuses(&shapes[1], &args)))
        return true;
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(dcoll_program_make(a, &shapes[i], &args, &p[i]), 0);
    for (unsigned r = 0; r < 6; r++) {
        const dcoll_schedule_t *x = &p[0].rank[r], *y = &p[1].rank[r];
        differ |= x->nops != y->nops ||
                  memcmp(x->ops, y->ops, x->nops * sizeof *x->ops);
    }
    dcoll_program_free(&p[0]);
    dcoll_program_free(&p[1]);
    return differ;
}

static void sweep_algorithm(struct sweep *sweep)
{
    bool nodes_matter = knows_nodes(sweep->algorithm);
    unsigned node_begin[RANKS_MAX + 1];
    for (unsigned n = 1; n <= RANKS_MAX; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++) {
            dcoll_shape_t shape = {n, 1, node_begin, k};
            shape.nnodes = make_nodes(n, n, node_begin);
            run_shape(sweep, &shape);
            for (unsigned ppn = 0; nodes_matter && ppn <= PPN_MAX && ppn < n;
                 ppn += SHAPES_STEP) {
                shape.nnodes = make_nodes(n, ppn, node_begin);
                run_shape(sweep, &shape);
            }
        }
}

/* --------------------------------------------------------------- test --- */

static int work(unsigned worker)
{
    unsigned index = 0, failures = 0;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        struct sweep sweep = {*a, 0, 0};
        if (index++ % WORKERS != worker)
            continue;
        sweep_algorithm(&sweep);
        if (!sweep.cases)
            fprintf(stderr, "%s: refuses everything\n", (*a)->name);
        failures += sweep.failures + !sweep.cases;
    }
    return failures != 0;
}

static void test_all(void **state)
{
    pid_t pids[WORKERS];
    (void)state;
    assert_non_null(dcoll_algorithms()[0]);
    for (unsigned i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (!pids[i])
            _exit(work(i));
    }
    for (unsigned i = 0; i < WORKERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}

/* Those that let ranks run ahead by more than two starts. */
static void test_deep(void **state)
{
    static const unsigned node_begin[] = {0, 5};
    const dcoll_shape_t shape = {5, 1, node_begin, 2};
    unsigned deep = 0;
    (void)state;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms(); *a; a++) {
        struct sweep sweep = {*a, 0, 0};
        for (unsigned i = 0; (*a)->by_flags && i < 3 * SIZES; i++) {
            const dcoll_args_t args = {.collective = (*a)->collective,
                                       .bytes = sizes[i % SIZES],
                                       .root = i % shape.nranks,
                                       .depth = 4u << 2 * (i / SIZES)};
            run(&sweep, &shape, &args);
        }
        assert_int_equal(sweep.failures, 0);
        deep += sweep.cases > 0;
    }
    assert_true(deep >= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_deep),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
