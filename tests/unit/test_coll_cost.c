/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of schedules under Hockney's model equals the closed forms (1) to
 * (5) of Qian and Afsahi 2008. All times are sums of powers of two here: equal
 * is equal.
 *
 * Where a formula does not match its own algorithm:
 *  - (1) for gather: its sum is that of full subtrees. If N is no power of
 *    k + 1 and k > 1, the last subtree is smaller than its level allows but
 *    not k times smaller: step i takes min((k+1)^i, N - (k+1)^i) blocks, for
 *    N = 13, k = 2 in all 1 + 3 + 4 = 8, not (N-1)/k = 6. A root in
 *    the middle may need two messages where a subtree wraps around rank 0.
 *  - (1) for Bruck's all-gather, "for any N": only if the missing blocks of the
 *    last step are spread evenly over the ports (each destination gets others),
 *    and with (N-1)/k rounded up. The text sends the same first blocks to all
 *    destinations; then they don't complete the result unless k = 1.
 *  - (4): the correction steps of the standard exchange are said to cost
 *    (k+1) ⌊log N⌋ startups and no more than (N-1)/k blocks. That is the least
 *    that any all-gather takes, and a rank that hands its block in first and
 *    gets all others' at the end takes N - 1 blocks for the latter alone. With
 *    folding there are ⌈log N⌉ + 2 steps at most, and more blocks than (4).
 *  - (5), the text says of a message of the exchange that it is N/(k+1) times
 *    that of the all-gather's step, which is (k+1)^(i-1) blocks. The formula is
 *    right: N/(k+1) blocks in each step.
 *  - (5) for Bruck's all-to-all holds at powers of k + 1, as the text says. Its
 *    destinations "(i + k^j)" and "j-th bit" are for k = 1 (with 2^j): it is
 *    i + d (k+1)^j and the digit d.
 */
#include "powers.h"
#include "unit.h"
#include "coll/schedule.h"
#include "dapl_rail/dapl_rail.h"

#define BYTES 8
#define TS    4096.0
#define TAU   0.125

static const dcoll_cost_model_t papers = {.ts = TS, .tau = TAU};

static double cost_of(const dcoll_algorithm_t *a, const dcoll_shape_t *shape,
                      bool zero_copy, const dcoll_cost_model_t *model)
{
    const dcoll_args_t args = {.collective = a->collective,
                               .bytes = BYTES,
                               .zero_copy = zero_copy,
                               .depth = 2};
    dcoll_program_t p;
    assert_int_equal(dcoll_program_make(a, shape, &args, &p), 0);
    double time = dcoll_cost(&p, model);
    dcoll_program_free(&p);
    return time;
}

/* Both with and without copies. */
static void expect(dcoll_collective_t collective, const char *name, unsigned n,
                   unsigned k, unsigned steps, unsigned blocks)
{
    const unsigned nodes[] = {0, n};
    const dcoll_shape_t shape = {n, 1, nodes, k};
    const dcoll_algorithm_t *a = dcoll_algorithm_find(collective, name);
    assert_non_null(a);
    for (int zero_copy = 0; zero_copy < 2; zero_copy++) {
        double time = cost_of(a, &shape, zero_copy, &papers);
        double wanted = steps * TS + blocks * (BYTES * TAU);
        if (time != wanted)
            fail_msg("%s %s, N = %u, k = %u, zero copy %d: %g, not %u steps "
                     "and %u blocks",
                     dcoll_collective_name(collective), name, n, k, zero_copy,
                     time, steps, blocks);
    }
}

#define FOR_ALL(n, k)                                                          \
    for (unsigned k = 1; k <= 4; k++)                                          \
        for (unsigned n = 1; n <= 64; n++)

static void test_equation_1_gather(void **state)
{
    FOR_ALL(n, k)
    {
        unsigned blocks = 0;
        for (unsigned w = 1; w < n; w *= k + 1)
            blocks += w < n - w ? w : n - w;
        if (is_power(n, k + 1) || k == 1)
            assert_int_equal(blocks, (n - 1) / k);
        expect(DCOLL_GATHER, "binomial", n, k, log_up(n, k + 1), blocks);
        expect(DCOLL_GATHER, "tree", n, k, log_up(n, 2), n - 1);
    }
}

static void test_equation_1_bruck(void **state)
{
    FOR_ALL(n, k)
    expect(DCOLL_ALLGATHER, "bruck", n, k, log_up(n, k + 1),
           divided_up(n - 1, k));
}

static void test_equation_2(void **state)
{
    FOR_ALL(n, k)
    {
        unsigned steps = divided_up(n - 1, k);
        expect(DCOLL_GATHER, "direct", n, k, steps, steps);
        expect(DCOLL_ALLGATHER, "direct", n, k, steps, steps);
        expect(DCOLL_ALLTOALL, "direct", n, k, steps, steps);
    }
}

static void test_equation_3(void **state)
{
    FOR_ALL(n, k)
    {
        if (is_power(n, k + 1))
            expect(DCOLL_ALLGATHER, "exchange", n, k, log_up(n, k + 1),
                   (n - 1) / k);
        if (is_power(n, 2))
            expect(DCOLL_ALLGATHER, "doubling", n, k, log_up(n, 2), n - 1);
    }
}

/* Fewer startups than (4) from some size on, never fewer blocks. */
static void test_equation_4(void **state)
{
    const dcoll_algorithm_t *a =
        dcoll_algorithm_find(DCOLL_ALLGATHER, "exchange");
    assert_non_null(a);
    FOR_ALL(n, k)
    {
        const unsigned nodes[] = {0, n};
        const dcoll_shape_t shape = {n, 1, nodes, k};
        if (is_power(n, k + 1))
            continue;
        double time = cost_of(a, &shape, true, &papers);
        unsigned steps = (unsigned)(time / TS);
        double blocks = (time - steps * TS) / (BYTES * TAU);
        assert_true(blocks * k >= n - 1);
        assert_true(steps <= log_up(n, k + 1) + 2);
    }
}

/* Most blocks below n that have one digit, over all digits but 0. */
static unsigned digits(unsigned n, unsigned radix, unsigned weight)
{
    unsigned most = 0;
    for (unsigned digit = 1; digit < radix; digit++) {
        unsigned count = 0;
        for (unsigned j = 0; j < n; j++)
            count += j / weight % radix == digit;
        most = count > most ? count : most;
    }
    return most;
}

static void test_equation_5(void **state)
{
    FOR_ALL(n, k)
    {
        unsigned steps = log_up(n, k + 1), blocks = 0;
        for (unsigned weight = 1; weight < n; weight *= k + 1)
            blocks += digits(n, k + 1, weight);
        expect(DCOLL_ALLTOALL, "bruck", n, k, steps, blocks);
        if (!is_power(n, k + 1))
            continue;
        assert_int_equal(blocks, n / (k + 1) * steps);
        expect(DCOLL_ALLTOALL, "exchange", n, k, steps, blocks);
    }
}

/* The papers compare with a single port. */
static void test_single_port(void **state)
{
    FOR_ALL(n, k)
    {
        expect(DCOLL_ALLGATHER, "ring", n, k, n - 1, n - 1);
        expect(DCOLL_ALLTOALL, "pairwise", n, k, n - 1, n - 1);
        expect(DCOLL_ALLTOALL, "permission", n, k, n - 1, n - 1);
    }
}

/* ------------------------------------------------- the model itself --- */

static void many_to_one(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    dcoll_place_t temp = dcoll_at(DCOLL_TEMP, 0);
    s->temp_bytes = BYTES;
    if (rank) {
        dcoll_add_put(s, 0, args->root ? rank % shape->ports : 0, temp, temp,
                      BYTES);
        dcoll_add_complete(s);
        return;
    }
    for (unsigned r = 1; r < shape->nranks; r++)
        dcoll_add_wait(s, r, DCOLL_DATA, 0);
}

static void one_to_many(const dcoll_shape_t *shape, const dcoll_args_t *args,
                        unsigned rank, dcoll_schedule_t *s)
{
    dcoll_place_t temp = dcoll_at(DCOLL_TEMP, 0);
    s->temp_bytes = BYTES;
    for (unsigned r = 1; !rank && r < shape->nranks; r++)
        dcoll_add_put(s, r, args->root ? r % shape->ports : 0, temp, temp,
                      BYTES);
    if (rank)
        dcoll_add_wait(s, 0, DCOLL_DATA, 0);
    else
        dcoll_add_complete(s);
}

/* Rank 0 copies and says so; rank 1 then notifies rank 2. */
static void relay(const dcoll_shape_t *shape, const dcoll_args_t *args,
                  unsigned rank, dcoll_schedule_t *s)
{
    s->flags = 1;
    s->temp_bytes = 4 * BYTES;
    if (rank == 0) {
        dcoll_add_copy(s, dcoll_at(DCOLL_TEMP, 0), dcoll_at(DCOLL_TEMP, 16),
                       16);
        dcoll_add_signal(s, 0, dcoll_at(DCOLL_TEMP, 0), 4);
    } else if (rank == 1) {
        dcoll_add_await(s, 0, 0, 0, dcoll_at(DCOLL_TEMP, 0), 4);
        dcoll_add_notify(s, 2, 0, DCOLL_CREDIT);
    } else if (rank == 2 || args->root) {
        dcoll_add_wait(s, 1, DCOLL_CREDIT, 0);
    }
}

static double cost_by_hand(void (*generate)(const dcoll_shape_t *,
                                            const dcoll_args_t *, unsigned,
                                            dcoll_schedule_t *),
                           unsigned root, const dcoll_cost_model_t *model)
{
    static const unsigned nodes[] = {0, 5};
    const dcoll_shape_t shape = {5, 1, nodes, 2};
    const dcoll_algorithm_t a = {.generate = generate};
    const dcoll_args_t args = {.bytes = BYTES, .root = root, .depth = 2};
    dcoll_program_t p;
    assert_int_equal(dcoll_program_make(&a, &shape, &args, &p), 0);
    double time = dcoll_cost(&p, model);
    dcoll_program_free(&p);
    return time;
}

static void test_ports(void **state)
{
    const double message = TS + BYTES * TAU;
    assert_true(cost_by_hand(many_to_one, 0, &papers) == 4 * message);
    assert_true(cost_by_hand(many_to_one, 1, &papers) == 2 * message);
    assert_true(cost_by_hand(one_to_many, 0, &papers) == 4 * message);
    assert_true(cost_by_hand(one_to_many, 1, &papers) == 2 * message);
}

static void test_node(void **state)
{
    const dcoll_cost_model_t model = {.copy = 2, .flag = 100, .note = 1000};
    /* copy 16, payload 4 out and 4 in */
    assert_true(cost_by_hand(relay, 0, &model) == 2 * (16 + 4 + 4) + 1100);
    /* ranks 3 and 4 wait for what nobody sends */
    assert_true(cost_by_hand(relay, 1, &model) == DRAIL_EINVAL);
}

/* Two nodes of two ranks that send in the same order. */
static void test_wires(void **state)
{
    static const unsigned nodes[] = {0, 2, 4};
    const dcoll_shape_t shape = {4, 2, nodes, 1};
    const dcoll_algorithm_t *direct =
        dcoll_algorithm_find(DCOLL_ALLTOALL, "direct");
    const double block = BYTES * TAU, latency = 512;
    const double plain = 3 * (TS + block);
    dcoll_cost_model_t model = papers;
    assert_true(cost_of(direct, &shape, false, &model) == plain);
    /* a rank goes on while its messages are on their way */
    model.latency = latency;
    assert_true(cost_of(direct, &shape, false, &model) == plain + latency);
    /* once one rank waits for the other's block; then they take turns */
    model.wires = 1;
    assert_true(cost_of(direct, &shape, false, &model) ==
                plain + latency + block);
}

/* Long messages are spread over two wires. */
static void test_short_over_wires(void **state)
{
    static const unsigned nodes[] = {0, 1, 2};
    const dcoll_shape_t shape = {2, 2, nodes, 2};
    const dcoll_algorithm_t *direct =
        dcoll_algorithm_find(DCOLL_ALLTOALL, "direct");
    dcoll_cost_model_t model = papers;
    model.wires = 2;
    assert_true(cost_of(direct, &shape, false, &model) == TS + BYTES * TAU / 2);
    model.whole = BYTES + 1;
    assert_true(cost_of(direct, &shape, false, &model) == TS + BYTES * TAU);
    model.whole = BYTES;
    assert_true(cost_of(direct, &shape, false, &model) == TS + BYTES * TAU / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equation_1_gather),
        cmocka_unit_test(test_equation_1_bruck),
        cmocka_unit_test(test_equation_2),
        cmocka_unit_test(test_equation_3),
        cmocka_unit_test(test_equation_4),
        cmocka_unit_test(test_equation_5),
        cmocka_unit_test(test_single_port),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_node),
        cmocka_unit_test(test_wires),
        cmocka_unit_test(test_short_over_wires),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
