/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all `radix`: for N up to 128 and 1 to 4 ports it takes the
 * steps of the regular one, ⌈log_{k+1} N⌉ of short parts if N is a power, and
 * ⌈(N-1)/k⌉ of long ones. Schedules of each base are verified.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/build/exchange/bruck_alltoall.h"
#include "coll/build/flat.h"
#include "traffic.h"

#ifdef DRAIL_SANITIZE
enum { RANKS_MAX = 40, VERIFIED = 6 };
#else
enum { RANKS_MAX = 128, VERIFIED = 11 };
#endif
enum { PORTS_MAX = 4 };

static unsigned steps_of(const dcoll_program_t *p)
{
    unsigned steps = 0;
    for (unsigned r = 0; r < p->shape->nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++) {
            const dcoll_op_t *op = &p->rank[r].ops[i];
            if (op->kind == DCOLL_PUT && op->step + 1u > steps)
                steps = op->step + 1u;
        }
    return steps;
}

/* Equal parts of one element; returns the steps. */
static unsigned check(unsigned n, unsigned k, size_t element)
{
    unsigned nodes[RANKS_MAX + 1];
    const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, 1 + n % 3, nodes),
                                 nodes, k};
    struct traffic t = traffic_make(n, TRAFFIC_EQUAL, 1, n);
    dcoll_traffic_t bounds = traffic_bounds(&t, element);
    const dcoll_args_t args = {
        .collective = DCOLL_ALLTOALLV, .depth = 2, .traffic = &bounds};
    const unsigned radix = bruck_alltoall_radix(&shape, element);
    dcoll_program_t p;
    char why[512] = "";
    assert_int_equal(dcoll_program_make(&alltoallv_radix, &shape, &args, &p),
                     0);
    p.counts = t.counts;
    const unsigned steps = steps_of(&p);
    assert_int_equal(steps, bruck_alltoall_toll(n, k, radix).steps);
    if (n <= VERIFIED &&
        dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
        fail_msg("%u ranks, %u ports, base %u: %s", n, k, radix, why);
    dcoll_program_free(&p);
    traffic_free(&t);
    return steps;
}

static void test_short(void **state)
{
    for (unsigned n = 2; n <= RANKS_MAX; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            assert_int_equal(check(n, k, 16),
                             bruck_alltoall_toll(n, k, k + 1).steps);
    for (unsigned k = 1; k <= PORTS_MAX; k++)
        for (unsigned n = k + 1; n <= RANKS_MAX; n *= k + 1)
            assert_int_equal(bruck_alltoall_toll(n, k, k + 1).steps,
                             flat_steps(n, k));
}

static void test_long(void **state)
{
    for (unsigned n = 2; n <= RANKS_MAX; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            assert_int_equal(check(n, k, 32 << 10), (n - 1 + k - 1) / k);
}

/* Steps between these. */
static void test_between(void **state)
{
    unsigned between = 0;
    for (unsigned n = 9; n <= RANKS_MAX; n += 3)
        for (size_t element = 256; element <= 8192; element *= 2) {
            const unsigned steps = check(n, 1, element);
            between += steps > flat_steps(n, 1) && steps < n - 1;
        }
    assert_true(between > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
