/* SPDX-License-Identifier: BSD-3-Clause */
/* Irregular all-to-all: the schedules of A1 to A4 bring everything where it
 * belongs, for any number of ranks and any counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "coll/algorithms/algorithms.h"
#include "traffic.h"

enum { ELEMENT = 16 };

static void verify(const dcoll_algorithm_t *a, const struct traffic *t,
                   unsigned ports, size_t pulled)
{
    const unsigned node[] = {0, t->n};
    const dcoll_shape_t shape = {t->n, 1, node, ports};
    dcoll_traffic_t bounds = traffic_bounds(t, ELEMENT);
    dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = a->depth ? a->depth : 2, .traffic = &bounds};
    dcoll_program_t program;
    char why[512];
    bounds.pulled = pulled;
    if (a->refuses && a->refuses(&shape, &args))
        return;
    assert_int_equal(dcoll_program_make(a, &shape, &args, &program), 0);
    program.counts = t->counts;
    if (dcoll_verify(&program, args.depth + 1, why, sizeof why))
        fail_msg("%s, %u ranks, %s, %u ports: %s", a->name, t->n, t->name,
                 ports, why);
    dcoll_program_free(&program);
}

static void verify_all(unsigned n, unsigned ports)
{
    for (unsigned pattern = 0; pattern < TRAFFIC_PATTERNS; pattern++) {
        struct traffic t = traffic_make(n, pattern, 3 + n % 5, n);
        for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
             *a; a++)
            verify(*a, &t, ports, (2 + n % 3) * ELEMENT);
        traffic_free(&t);
    }
}

static void test_small(void **state)
{
    (void)state;
    for (unsigned n = 1; n <= 14; n++)
        for (unsigned ports = 1; ports <= 3; ports++)
            verify_all(n, ports);
}

static void test_large(void **state)
{
    (void)state;
    static const unsigned ranks[] = {16, 19, 29, 31, 36, 41};
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++)
        verify_all(ranks[i], 1 + i % 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
