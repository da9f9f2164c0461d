/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All-gather `circulant` with blocks of any sizes, for every N up to 128 and 1
 * to 4 ports: n - 1 + ⌈log₂ N⌉ steps, each of about 1/n of all blocks; a rank
 * receives each byte of the others once. Each schedule is verified in one
 * variant for a few pieces; more of the variants with another seed.
 */
#include <time.h>

#include "powers.h"
#include "unit.h"
#include "coll/algorithms/algorithms.h"
#include "coll/select/table.h"
#include "dapl_rail/dapl_rail.h"

enum { RANKS_MAX = 128, PORTS_MAX = 4, STEPS_MAX = 1100 };

enum sizes { EQUAL, ONE_LONG, RISING, EVERY_OTHER, SHORT, NONE, SIZES };

static size_t bytes_of(enum sizes sizes, unsigned n, unsigned rank)
{
    switch (sizes) {
    case EQUAL:
        return 4096;
    case ONE_LONG:
        return rank == n / 3 ? 1 << 20 : 0;
    case RISING:
        return 1000 * rank;
    case EVERY_OTHER:
        return rank % 2 ? 20000 : 0;
    case SHORT:
        return rank % 3;
    default:
        return 0;
    }
}

static dcoll_args_t args_of(enum sizes sizes, unsigned n, unsigned variant,
                            size_t *begin)
{
    dcoll_args_t args = {.collective = DCOLL_ALLGATHER,
                         .begin = begin,
                         .in_place = variant & 1,
                         .zero_copy = variant & 2,
                         .paced = variant & 8,
                         .depth = 1 + variant / 4 % 2};
    begin[0] = 0;
    for (unsigned r = 0; r < n; r++) {
        const size_t bytes = bytes_of(sizes, n, r);
        begin[r + 1] = begin[r] + bytes;
        args.bytes = bytes > args.bytes ? bytes : args.bytes;
    }
    return args;
}

struct tolls {
    unsigned steps;
    size_t received;
    size_t most[STEPS_MAX]; /* bytes of a rank through a port, in each step */
};

static void add_rank(struct tolls *t, const dcoll_schedule_t *s, unsigned to)
{
    size_t through[PORTS_MAX] = {0};
    unsigned step = 0;
    for (unsigned i = 0; i < s->nops; i++) {
        const dcoll_op_t *op = &s->ops[i];
        if (op->kind != DCOLL_PUT)
            continue;
        if (op->step != step)
            memset(through, 0, sizeof through);
        step = op->step;
        assert_true(step < STEPS_MAX);
        through[op->port] += op->bytes;
        if (through[op->port] > t->most[step])
            t->most[step] = through[op->port];
        t->received += op->peer == to ? op->bytes : 0;
        t->steps = step >= t->steps ? step + 1 : t->steps;
    }
}

static struct tolls tolls_of(const dcoll_program_t *p, unsigned rank)
{
    struct tolls t = {0};
    for (unsigned r = 0; r < p->shape->nranks; r++)
        add_rank(&t, &p->rank[r], rank);
    return t;
}

/* A piece has a cache line more than the average, at most. */
static void check_tolls(const dcoll_program_t *p, enum sizes sizes)
{
    const unsigned n = p->shape->nranks, k = p->shape->ports;
    const struct tolls t = tolls_of(p, n / 2);
    const unsigned q = log_up(n, 2), pieces = t.steps + 1 - q;
    const double all = (double)p->args.begin[n];
    assert_int_equal(t.received,
                     n > 1 ? p->args.begin[n] - bytes_of(sizes, n, n / 2) : 0);
    if (n == 1)
        return;
    assert_in_range(t.steps, q, q + 1023);
    for (unsigned step = 0; step < t.steps; step++)
        if ((double)t.most[step] > all / pieces / k + 64.0 * n)
            fail_msg("%u ranks, %u ports, sizes %d: %zu bytes in step %u", n, k,
                     sizes, t.most[step], step);
}

static void check(const dcoll_shape_t *shape, unsigned variant, bool verified)
{
    size_t begin[RANKS_MAX + 1];
    char why[1024] = "";
    dcoll_program_t p;
    const enum sizes sizes = variant / 16 % SIZES;
    const dcoll_args_t args = args_of(sizes, shape->nranks, variant, begin);
    assert_int_equal(dcoll_program_make(&allgather_circulant, shape, &args, &p),
                     0);
    check_tolls(&p, sizes);
    if (verified && dcoll_verify(&p, dcoll_proof_starts(&p), why, sizeof why))
        fail_msg("%u ranks, %u ports, variant %u: %s", shape->nranks,
                 shape->ports, variant, why);
    dcoll_program_free(&p);
}

static unsigned seed_of(void)
{
    const char *text = getenv("COLL_SEED");
    const unsigned seed = text ? (unsigned)strtoul(text, NULL, 0)
                               : (unsigned)time(NULL) % 1000000;
    print_message("COLL_SEED=%u\n", seed);
    return seed;
}

static void test_all(void **state)
{
    const unsigned seed = seed_of();
    for (unsigned n = 1; n <= RANKS_MAX; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++) {
            const unsigned nodes[] = {0, n};
            const dcoll_shape_t shape = {n, 1, nodes, k};
            const unsigned draw = (seed + n * PORTS_MAX + k) * 2654435761u >> 8;
            check(&shape, draw, n <= 12 || draw / 128 % 16 == 0);
        }
}

/* One block of 16 MB, over two rails of 50 GB/s: a broadcast's time, where the
 * other algorithms send the block N - 1 times. `auto` takes it. */
static void test_model(void **state)
{
    static const dcoll_cost_model_t model = {
        .ts = 1.2e-6, .tau = 1 / 50e9, .copy = 1 / 12e9};
    enum { N = 64, LONG = 16 << 20 };
    size_t begin[N + 1] = {0};
    unsigned nodes[N + 1];
    const dcoll_shape_t shape = {N, dcoll_shape_nodes(N, 1, nodes), nodes, 2};
    for (unsigned r = 0; r < N; r++)
        begin[r + 1] = begin[r] + (r == 5 ? LONG : 64);
    dcoll_args_t args = {.collective = DCOLL_ALLGATHER,
                         .bytes = LONG,
                         .begin = begin,
                         .in_place = true,
                         .zero_copy = true,
                         .depth = 2};
    static const dcoll_algorithm_t *const other[] = {
        &allgather_circulant, &allgather_direct, &allgather_ring};
    const double least = LONG / 2 * model.tau;
    double times[3];
    for (unsigned i = 0; i < 3; i++) {
        dcoll_program_t p;
        assert_int_equal(dcoll_program_make(other[i], &shape, &args, &p), 0);
        times[i] = dcoll_cost(&p, &model);
        print_message("%s: %.3g times the least\n", other[i]->name,
                      times[i] / least);
        dcoll_program_free(&p);
    }
    assert_true(times[0] < 2.5 * least);
    assert_true(times[0] * 20 < times[1] && times[0] * 20 < times[2]);
    assert_ptr_equal(
        dcoll_table_select(NULL, DRAIL_ENGINE_SINGLE, &shape, &args),
        &allgather_circulant);
}

static void test_all_variants(void **state)
{
    for (unsigned n = 1; n <= 6; n++)
        for (unsigned k = 1; k <= PORTS_MAX; k++)
            for (unsigned variant = 0; variant < 16 * SIZES; variant++) {
                const unsigned nodes[] = {0, n};
                const dcoll_shape_t shape = {n, 1, nodes, k};
                check(&shape, variant, true);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_all_variants),
        cmocka_unit_test(test_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
