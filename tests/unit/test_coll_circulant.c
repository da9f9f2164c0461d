/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Broadcast and reduce `circulant` of several pieces: schedules for N up to
 * 128, 1 to 4 ports and nodes of 1, 2, 3 and 8 ranks are verified, and wrong
 * ones found. `auto` takes the reduce for long blocks between nodes.
 */
#include <time.h>

#include "faults.h"
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/select/table.h"
#include "dapl_rail/dapl_rail.h"

enum { RANKS_MAX = 128, PORTS_MAX = 4, ELEMENT = 4 << 10 };
#ifdef DRAIL_SANITIZE
enum { STEP = 9 };
#else
enum { STEP = 1 };
#endif

static uint64_t state = 1;

static unsigned drawn(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (unsigned)(state >> 33) % below;
}

static dcoll_args_t args_of(const dcoll_algorithm_t *a, unsigned n,
                            unsigned elements)
{
    return (dcoll_args_t){.collective = a->collective,
                          .bytes = (size_t)elements * ELEMENT,
                          .element = ELEMENT,
                          .commutes = true,
                          .root = drawn(n),
                          .zero_copy = drawn(2),
                          .depth = 1 + drawn(2)};
}

static void check(const dcoll_algorithm_t *a, unsigned n, unsigned ppn,
                  unsigned ports)
{
    unsigned nodes[RANKS_MAX + 1];
    const dcoll_shape_t shape = {n, dcoll_shape_nodes(n, ppn, nodes), nodes,
                                 ports};
    const dcoll_args_t args = args_of(a, n, drawn(60));
    char why[1024] = "";
    dcoll_program_t p;
    assert_int_equal(dcoll_program_make(a, &shape, &args, &p), 0);
    if (dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
        fail_msg("%s: %u ranks, %u a node, %u ports, root %u, %zu bytes, "
                 "depth %u: %s",
                 dcoll_collective_name(a->collective), n, ppn, ports, args.root,
                 args.bytes, args.depth, why);
    dcoll_program_free(&p);
}

static void test_verified(void **unused)
{
    static const unsigned of_node[] = {1, 2, 3, 8};
    for (unsigned n = 1; n <= RANKS_MAX; n += STEP)
        for (unsigned k = 1; k <= PORTS_MAX; k++) {
            check(&reduce_circulant, n, of_node[drawn(4)], k);
            if (k == 1 + n % PORTS_MAX)
                check(&bcast_circulant, n, of_node[drawn(4)], k);
        }
}

static void plant(const dcoll_algorithm_t *a, unsigned variant)
{
    const unsigned nodes[] = {0, 1, 2, 3, 4, 5};
    const dcoll_shape_t shape = {5, 5, nodes, 2};
    dcoll_args_t args = args_of(a, 5, 16);
    dcoll_program_t p;
    args.zero_copy = variant & 1;
    args.depth = 1 + (variant >> 1);
    assert_int_equal(dcoll_program_make(a, &shape, &args, &p), 0);
    faults_expect_all(&p, 5, ELEMENT, variant);
    dcoll_program_free(&p);
}

/* Each operation is left out, or moved by an element. */
static void test_planted(void **unused)
{
    for (unsigned variant = 0; variant < 4; variant++) {
        plant(&reduce_circulant, variant);
        plant(&bcast_circulant, variant);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_planted),
    };
    const char *seed = getenv("COLL_SEED");
    state = seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL);
    printf("COLL_SEED=%llu\n", (unsigned long long)state);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
