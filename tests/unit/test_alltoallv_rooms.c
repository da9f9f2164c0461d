/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts far below their bounds: bundles are nearly empty. Correct schedules
 * still pass. A schedule whose rooms overlap is refused, although its bundles
 * do not overlap.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "coll/algorithms/algorithms.h"
#include "traffic.h"

enum { ELEMENT = 16, RANKS = 9, SPARE = 5 };

/* Of nodes of so many ranks; one element between any two. */
struct scene {
    unsigned node[RANKS + 1];
    dcoll_shape_t shape;
    struct traffic counts;
    dcoll_traffic_t bounds;
    dcoll_args_t args;
    dcoll_program_t program;
    char why[512];
};

/* False: the algorithm is not for that. */
static bool scene_open(struct scene *s, const dcoll_algorithm_t *a, unsigned n,
                       unsigned ppn)
{
    unsigned nodes = dcoll_shape_nodes(n, ppn, s->node);
    s->shape = (dcoll_shape_t){n, nodes, s->node, 1};
    s->counts = traffic_make(n, TRAFFIC_EQUAL, 1, 1);
    s->bounds = traffic_bounds(&s->counts, ELEMENT);
    s->bounds.max_pair *= SPARE;
    s->bounds.max_rank *= SPARE;
    s->bounds.pulled = SIZE_MAX;
    s->args = (dcoll_args_t){.collective = DCOLL_ALLTOALLV,
                             .depth = a->depth ? a->depth : 2,
                             .traffic = &s->bounds};
    s->program = (dcoll_program_t){0};
    if (a->refuses && a->refuses(&s->shape, &s->args))
        return false;
    assert_int_equal(dcoll_program_make(a, &s->shape, &s->args, &s->program),
                     0);
    s->program.counts = s->counts.counts;
    return true;
}

static void scene_close(struct scene *s)
{
    if (s->program.rank)
        dcoll_program_free(&s->program);
    traffic_free(&s->counts);
}

static int verify(struct scene *s)
{
    return dcoll_verify(&s->program, s->args.depth + 1, s->why, sizeof s->why);
}

static void test_right(void **state)
{
    struct scene s;
    (void)state;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular(); *a;
         a++)
        for (unsigned n = 2; n <= RANKS; n++)
            for (unsigned ppn = 2; ppn <= n; ppn += n - 2 ? n - 2 : 1) {
                if (scene_open(&s, *a, n, ppn) && verify(&s))
                    fail_msg("%s, %u ranks, %u a node: %s", (*a)->name, n, ppn,
                             s.why);
                scene_close(&s);
            }
}

/* Where the first bundle goes on a rank, and from what on all of them have. */
static size_t first_place(const dcoll_program_t *p)
{
    size_t first = SIZE_MAX;
    for (unsigned r = 0; r < p->shape->nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++) {
            const dcoll_op_t *op = &p->rank[r].ops[i];
            if (op->kind == DCOLL_PUT && op->dst.offset < first)
                first = op->dst.offset;
        }
    return first;
}

/* A bundle's place is so much nearer to the first one for each before it. */
static void draw_near(dcoll_op_t *op, size_t first, size_t nearer)
{
    op->dst.offset -= (op->dst.offset - first) / op->bytes * nearer;
}

/* All agree on that. */
static void narrow(dcoll_program_t *p, size_t nearer)
{
    size_t first = first_place(p);
    for (unsigned r = 0; r < p->shape->nranks; r++) {
        dcoll_schedule_t *s = &p->rank[r];
        for (unsigned i = 0; i < s->nops; i++) {
            dcoll_op_t *op = &s->ops[i];
            if (op->kind == DCOLL_PUT || (op->kind == DCOLL_COPY && op->sized))
                draw_near(op, first, nearer);
            else if (op->kind == DCOLL_DELIVER)
                s->deals[op->deal].stride -= nearer;
        }
    }
}

static void test_overlapping(void **state)
{
    struct scene s;
    (void)state;
    const dcoll_algorithm_t *a = dcoll_algorithm_find(DCOLL_ALLTOALLV, "a1-n1");
    assert_true(scene_open(&s, a, 5, 5));
    narrow(&s.program, 0);
    assert_int_equal(verify(&s), 0);
    narrow(&s.program, ELEMENT);
    assert_int_not_equal(verify(&s), 0);
    assert_non_null(strstr(s.why, "unordered"));
    scene_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_overlapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
