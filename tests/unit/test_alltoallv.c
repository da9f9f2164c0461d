/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Irregular all-to-all: the schedules of A1 to A4 move every element to its
 * destination, for any number of ranks and any counts.
 */
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "irregular_verify.h"

#ifdef DRAIL_SANITIZE
enum { SMALL = 7, DENSE = 19, RANKS = 40, STEP = 3 };
#else
enum { SMALL = 12, DENSE = 41, RANKS = 128, STEP = 1 };
#endif

/* Of nodes of so many ranks. */
static void verify(const dcoll_algorithm_t *a, const struct traffic *t,
                   unsigned ports, unsigned ppn, size_t pulled)
{
    unsigned node[RANKS + 1];
    const dcoll_shape_t shape = {t->n, dcoll_shape_nodes(t->n, ppn, node), node,
                                 ports};
    irregular_verify(a, &shape, t, IRREGULAR_ELEMENT, pulled);
}

static void verify_all(unsigned n, unsigned ports, unsigned pattern,
                       unsigned ppn)
{
    struct traffic t = traffic_make(n, pattern, 3 + n % 5, n);
    for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular(); *a;
         a++)
        verify(*a, &t, ports, ppn, (2 + n % 3) * IRREGULAR_ELEMENT);
    traffic_free(&t);
}

static void test_small(void **state)
{
    for (unsigned n = 1; n <= SMALL; n++)
        for (unsigned ports = 1; ports <= 3; ports++)
            for (unsigned p = 0; p < TRAFFIC_PATTERNS; p++)
                verify_all(n, ports, p, p % 2 ? n : 1 + n / 3);
}

/* Patterns in turn, where these are dense. */
static void test_dense(void **state)
{
    static const unsigned ranks[] = {16, 19, 29, 31, 36, 41};
    for (unsigned i = 0; i < sizeof ranks / sizeof *ranks; i++)
        for (unsigned p = i % 3; ranks[i] <= DENSE && p < TRAFFIC_PATTERNS;
             p += 3)
            verify_all(ranks[i], 1 + i % 2, p, ranks[i]);
}

/* Algorithms with few messages run for each number of ranks, in one form or
 * other; those with a message for each pair, where there are not too many. */
static bool in_turn(const char *name, unsigned n)
{
    static const char *const forms[] = {"a4",   "a4-n1",   "a4-n2",
                                        "mesh", "mesh-n1", "mesh-n2"};
    static const char *const all[] = {"a1",    "a2-n1", "direct",
                                      "a1-n2", "a2",    "shm-alltoallv"};
    bool pairs = n <= RANKS / 3 || n % 16 == 0;
    bool dear = n > RANKS / 2 && n % 8; /* -n2 has most memory to look at */
    return !strcmp(name, forms[dear ? n % 2 : n % 3]) ||
           !strcmp(name, forms[3 + n / 3 % 3]) ||
           (pairs && !strcmp(name, all[n % 6])) || !strncmp(name, "a3", 2) ||
           !strcmp(name, "radix");
}

static void test_all(void **state)
{
    for (unsigned n = 1; n <= RANKS; n += STEP) {
        struct traffic t = traffic_make(n, TRAFFIC_SPARSE, 1, n);
        for (const dcoll_algorithm_t *const *a = dcoll_algorithms_irregular();
             *a; a++)
            if (in_turn((*a)->name, n))
                verify(*a, &t, 1 + n % 3, n, IRREGULAR_ELEMENT);
        traffic_free(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_small),
        cmocka_unit_test(test_dense),
        cmocka_unit_test(test_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
