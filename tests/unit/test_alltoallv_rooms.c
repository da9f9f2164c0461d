/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts far below their bounds: bundles are nearly empty. Correct schedules
 * still pass. A schedule whose rooms overlap is refused, although its bundles
 * do not overlap.
 */
#include "unit.h"
#include "irregular.h"

enum { ELEMENT = 16, RANKS = 9, SPARE = 5 };

/* One element between any two ranks. */
static bool scene_open(struct irregular *s, const dcoll_algorithm_t *a,
                       unsigned n, unsigned ppn)
{
    irregular_open(s, n, ppn, traffic_make(n, TRAFFIC_EQUAL, 1, 1), ELEMENT);
    s->bounds.max_pair *= SPARE;
    s->bounds.max_rank *= SPARE;
    s->bounds.pulled = SIZE_MAX;
    return irregular_make(s, a);
}

static int verify(struct irregular *s)
{
    return dcoll_verify(&s->program, s->args.depth + 1, s->why, sizeof s->why);
}

static void test_right(void **state)
{
    struct irregular s;
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular(); *a;
         a++)
        for (unsigned n = 2; n <= RANKS; n++)
            for (unsigned ppn = 2; ppn <= n; ppn += n - 2 ? n - 2 : 1) {
                if (scene_open(&s, *a, n, ppn) && verify(&s))
                    fail_msg("%s, %u ranks, %u a node: %s", (*a)->name, n, ppn,
                             s.why);
                irregular_close(&s);
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
    struct irregular s;
    const dcoll_algorithm_t *a = dcoll_algorithm_find(DCOLL_ALLTOALLV, "a1-n1");
    assert_true(scene_open(&s, a, 5, 5));
    narrow(&s.program, 0);
    assert_int_equal(verify(&s), 0);
    narrow(&s.program, ELEMENT);
    assert_int_not_equal(verify(&s), 0);
    assert_non_null(strstr(s.why, "unordered"));
    irregular_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_overlapping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
