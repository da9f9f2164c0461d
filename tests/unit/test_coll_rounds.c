/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Algorithms that take the fewest steps there can be: for every N up to 128 and
 * 1 to 4 ports, steps and blocks are those that docs/collectives.md tells, and
 * some of these schedules are verified.
 */
#include <time.h>

#include "powers.h"
#include "unit.h"
#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

enum { RANKS_MAX = 128, PORTS_MAX = 4, BYTES = 8, LINE = 64 };

/* Blocks that are moved: of args.bytes. 0: the papers tell no formula. */
static double reduce_scatter_blocks(unsigned n, unsigned k)
{
    return divided_up(n - 1, k);
}

static double allreduce_blocks(unsigned n, unsigned k)
{
    return 2.0 * divided_up(n - 1, k) / n;
}

static double bcast_blocks(unsigned n, unsigned k)
{
    return is_power(n, k + 1) ? 2.0 * (n - 1) / n / k : 0;
}

/* Far dimension first: for other N, some ports have a block more in a step. */
static double far_blocks(unsigned n, unsigned k)
{
    return k == 1 || is_power(n, k + 1) ? divided_up(n - 1, k) : 0;
}

static const struct {
    dcoll_collective_t collective;
    const char *algorithm;
    unsigned halves; /* each takes ⌈log_{k+1} N⌉ steps */
    bool sliced;     /* a block has a line for each rank */
    double (*blocks)(unsigned n, unsigned k);
} known[] = {
    {DCOLL_REDUCE_SCATTER_BLOCK, "bruck", 1, false, reduce_scatter_blocks},
    {DCOLL_REDUCE_SCATTER_BLOCK, "pat", 1, false, far_blocks},
    {DCOLL_ALLGATHER, "pat", 1, false, far_blocks},
    {DCOLL_ALLREDUCE, "bruck", 2, true, allreduce_blocks},
    {DCOLL_BCAST, "scatter-allgather", 2, true, bcast_blocks},
    {DCOLL_SCAN, "doubling", 1, false, NULL},
    {DCOLL_EXSCAN, "doubling", 1, false, NULL},
};
enum { KNOWN = sizeof known / sizeof *known, EXSCAN = KNOWN - 1 };

static void make(unsigned which, const dcoll_shape_t *shape, unsigned variant,
                 dcoll_program_t *p)
{
    const dcoll_algorithm_t *a =
        dcoll_algorithm_find(known[which].collective, known[which].algorithm);
    dcoll_args_t args = {.collective = known[which].collective,
                         .bytes =
                             known[which].sliced ? shape->nranks * LINE : BYTES,
                         .element = BYTES,
                         .root = variant % shape->nranks,
                         .in_place = variant & 1,
                         .zero_copy = variant & 2,
                         .depth = 1 + variant / 4 % 2};
    assert_non_null(a);
    args.commutes = dcoll_needs_commuting(a, shape, &args);
    assert_int_equal(dcoll_program_make(a, shape, &args, p), 0);
}

static unsigned steps_of(const dcoll_program_t *p)
{
    unsigned steps = 0;
    for (unsigned r = 0; r < p->shape->nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++)
            if (p->rank[r].ops[i].kind == DCOLL_PUT &&
                p->rank[r].ops[i].step >= steps)
                steps = p->rank[r].ops[i].step + 1u;
    return steps;
}

static double blocks_of(const dcoll_program_t *p)
{
    const dcoll_cost_model_t byte = {.tau = 1};
    return dcoll_cost(p, &byte) / (double)p->args.bytes;
}

static void check_tolls(unsigned which, const dcoll_shape_t *shape)
{
    const unsigned n = shape->nranks, k = shape->ports;
    dcoll_program_t p;
    make(which, shape, 2, &p);
    if (steps_of(&p) != known[which].halves * log_up(n, k + 1))
        fail_msg("%s: %u ranks, %u ports: %u steps", known[which].algorithm, n,
                 k, steps_of(&p));
    const double blocks =
        n > 1 && known[which].blocks ? known[which].blocks(n, k) : 0;
    if (blocks > 0 &&
        (blocks_of(&p) < blocks * 0.9999 || blocks_of(&p) > blocks * 1.0001))
        fail_msg("%s: %u ranks, %u ports: %g blocks, not %g",
                 known[which].algorithm, n, k, blocks_of(&p), blocks);
    dcoll_program_free(&p);
}

/* The puts that a rank receives, or sends. */
static unsigned received(const dcoll_program_t *p, unsigned rank)
{
    unsigned puts = 0;
    for (unsigned r = 0; r < p->shape->nranks; r++)
        for (unsigned i = 0; i < p->rank[r].nops; i++)
            puts += p->rank[r].ops[i].kind == DCOLL_PUT &&
                    p->rank[r].ops[i].peer == rank;
    return puts;
}

static unsigned sent(const dcoll_program_t *p, unsigned rank)
{
    unsigned puts = 0;
    for (unsigned i = 0; i < p->rank[rank].nops; i++)
        puts += p->rank[rank].ops[i].kind == DCOLL_PUT;
    return puts;
}

/* n pieces, striped over the ports, take n - 1 + ⌈log₂ N⌉ steps. The first of
 * each `ppn` ranks gets each stripe once, the others none; in a reduce each
 * sends it once. n depends on the size. */
static void check_pieces(dcoll_collective_t collective,
                         const dcoll_shape_t *shape, const char *name,
                         unsigned ppn)
{
    const unsigned n = shape->nranks / ppn, k = shape->ports;
    const dcoll_args_t args = {.collective = collective,
                               .bytes = 1 << 20,
                               .commutes = true,
                               .zero_copy = true,
                               .depth = 2};
    dcoll_program_t p;
    assert_int_equal(dcoll_program_make(dcoll_algorithm_find(collective, name),
                                        shape, &args, &p),
                     0);
    const unsigned pieces = steps_of(&p) + 1 - log_up(n, 2);
    assert_true(pieces > 1 || n == 2);
    for (unsigned r = 0; r < shape->nranks; r++)
        assert_int_equal(collective == DCOLL_BCAST ? received(&p, r)
                                                   : sent(&p, r),
                         r && r % ppn == 0 ? pieces * k : 0);
    dcoll_program_free(&p);
}

static void test_tolls(void **state)
{
    for (unsigned n = 1; n <= RANKS_MAX; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            for (unsigned which = 0; which < KNOWN; which++) {
                const unsigned nodes[] = {0, n};
                const dcoll_shape_t shape = {n, 1, nodes, k};
                check_tolls(which, &shape);
            }
}

static void test_pieces(void **state)
{
    for (unsigned n = 2; n <= RANKS_MAX; n += 7)
        for (unsigned k = 1; k <= PORTS_MAX; k++) {
            const unsigned nodes[] = {0, n};
            const dcoll_shape_t shape = {n, 1, nodes, k};
            check_pieces(DCOLL_BCAST, &shape, "circulant", 1);
            check_pieces(DCOLL_REDUCE, &shape, "circulant", 1);
        }
}

/* The fewest steps of 123-doubling (Träff 2025): ⌈log₂(n - 1) + log₂(4/3)⌉. */
static unsigned doubling_123_steps(unsigned n)
{
    unsigned steps = 0;
    while ((3u << steps) < 4 * (n - 1))
        steps++;
    return steps;
}

static unsigned most_combined(const dcoll_program_t *p)
{
    unsigned most = 0;
    for (unsigned r = 0; r < p->shape->nranks; r++) {
        unsigned count = 0;
        for (unsigned i = 0; i < p->rank[r].nops; i++)
            count += p->rank[r].ops[i].kind == DCOLL_COMBINE;
        most = count > most ? count : most;
    }
    return most;
}

/* An exscan never takes more steps than 123-doubling. Where it takes as many,
 * each step but the first combines once, and the second once more. */
static void test_exscan_by_123_doubling(void **state)
{
    assert_int_equal(known[EXSCAN].collective, DCOLL_EXSCAN);
    for (unsigned n = 2; n <= RANKS_MAX; n++) {
        const unsigned nodes[] = {0, n}, papers = doubling_123_steps(n);
        const dcoll_shape_t shape = {n, 1, nodes, 1};
        dcoll_program_t p;
        make(EXSCAN, &shape, 0, &p);
        const unsigned steps = steps_of(&p);
        if (steps > papers)
            fail_msg("%u ranks: %u steps, not %u", n, steps, papers);
        if (steps == papers && most_combined(&p) > steps)
            fail_msg("%u ranks: %u combined", n, most_combined(&p));
        dcoll_program_free(&p);
    }
}

/* Only the first rank of each node receives. */
static void test_pieces_of_nodes(void **state)
{
    unsigned first[RANKS_MAX + 1];
    for (unsigned n = 2; n <= RANKS_MAX; n += 7)
        for (unsigned ppn = 1; ppn <= 3; ppn++) {
            for (unsigned i = 0; i <= n; i++)
                first[i] = i * ppn;
            const dcoll_shape_t shape = {n * ppn, n, first, 2};
            check_pieces(DCOLL_BCAST, &shape, "smp-circulant", ppn);
        }
}

/* Each number of ranks with one of the ports, algorithms and variants. */
static void test_verified(void **state)
{
    const char *text = getenv("COLL_SEED");
    const unsigned seed = text ? (unsigned)strtoul(text, NULL, 0)
                               : (unsigned)time(NULL) % 1000000;
    print_message("COLL_SEED=%u\n", seed);
    for (unsigned n = 1; n <= RANKS_MAX; n++) {
        const unsigned draw = (seed + n) * 2654435761u >> 8;
        const unsigned nodes[] = {0, n};
        const dcoll_shape_t shape = {n, 1, nodes, 1 + draw % PORTS_MAX};
        dcoll_program_t p;
        char why[1024] = "";
        make(draw / 64 % KNOWN, &shape, draw / 4, &p);
        if (dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
            fail_msg("%s: %u ranks, %u ports: %s",
                     known[draw / 64 % KNOWN].algorithm, n, shape.ports, why);
        dcoll_program_free(&p);
    }
}

/* ------------------------------------------------------- between nodes --- */

/* Nodes of ppn ranks; 0: of 3, 1, 4, 2, 3 … */
static unsigned lay_out(unsigned n, unsigned ppn, unsigned *begin)
{
    static const unsigned odd[] = {3, 1, 4, 2};
    unsigned nodes = 0;
    if (ppn)
        return dcoll_shape_nodes(n, ppn, begin);
    for (unsigned first = 0; first < n; nodes++) {
        begin[nodes] = first;
        first += odd[nodes % 4];
    }
    begin[nodes] = n;
    return nodes;
}

static void make_all(const dcoll_shape_t *shape, unsigned variant,
                     dcoll_program_t *p)
{
    const dcoll_args_t args = {.collective = DCOLL_ALLGATHER,
                               .bytes = variant & 4 ? 100 : BYTES,
                               .in_place = variant & 1,
                               .depth = 1 + variant / 2 % 2};
    assert_int_equal(dcoll_program_make(
                         dcoll_algorithm_find(DCOLL_ALLGATHER, "smp-bruck-all"),
                         shape, &args, p),
                     0);
}

/* A node of L ranks has kL ports: ⌈log_{kL+1} nodes⌉ steps. */
static void check_nodes(const dcoll_shape_t *shape, unsigned variant,
                        bool verified)
{
    const unsigned base = shape->ports * dcoll_shape_least(shape) + 1;
    dcoll_program_t p;
    char why[1024] = "";
    make_all(shape, variant, &p);
    if (steps_of(&p) != log_up(shape->nnodes, base))
        fail_msg("%u nodes, %u ports: %u steps", shape->nnodes, shape->ports,
                 steps_of(&p));
    if (verified && dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
        fail_msg("%u ranks, %u nodes, %u ports: %s", shape->nranks,
                 shape->nnodes, shape->ports, why);
    dcoll_program_free(&p);
}

static void test_between_nodes(void **state)
{
    static const unsigned ppn[] = {1, 2, 3, 8, 0};
    const unsigned draw = (unsigned)time(NULL);
    unsigned begin[RANKS_MAX + 2], count = 0;
    print_message("first draw: %u\n", draw);
    for (unsigned n = 1; n <= RANKS_MAX; n++)
        for (unsigned i = 0; i < sizeof ppn / sizeof *ppn; i++)
            for (unsigned k = 1; k <= PORTS_MAX; k++) {
                const dcoll_shape_t shape = {n, lay_out(n, ppn[i], begin),
                                             begin, k};
                check_nodes(&shape, n + i, (draw + count++) % 16 == 0);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tolls),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_pieces_of_nodes),
        cmocka_unit_test(test_verified),
        cmocka_unit_test(test_between_nodes),
        cmocka_unit_test(test_exscan_by_123_doubling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
